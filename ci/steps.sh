# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Steps of .ci/run and ci/nightly: each is bounded in time, and those after one that failed run all the same.
failed=()
lane_names=()
lane_processes=()

# Sets `spent` to the processor time of all that this shell has started and waited for, in seconds.
processor_time() {
    local fields
    read -ra fields <"/proc/$BASHPID/stat"
    spent=$(((fields[15] + fields[16]) / $(getconf CLK_TCK)))
}

# step NAME COMMAND...: runs it, for at most $step_limit seconds (900 by default), and notes whether it failed.
step() {
    local name=$1 started=$SECONDS status spent before
    shift
    processor_time
    before=$spent
    printf '\n==> %s: %s\n' "$name" "$*"
    timeout --kill-after=30 "${step_limit:-900}" "$@"
    status=$?
    processor_time
    set -- $((SECONDS - started)) $((spent - before))
    local end="passed"
    ((status == 0)) || end="FAILED, status $status"
    printf -v end '==> %s: %s (%d s, %d s of processor time)' "$name" "$end" "$@"
    printf '%s\n' "$end"
    [[ ! ${outside-} ]] || printf '%s\n' "$end" >&"$outside"
    if ((status != 0)); then
        failed+=("$name")
        return 1
    fi
}

# lane NAME FUNCTION: runs a function that consists of steps beside what follows. The end of each step is said at once,
# all that it printed in join_lanes.
lane() {
    : "${lanes:?is the folder for what lanes print}"
    mkdir -p "$lanes"
    rm -f "$lanes/$1.failed"
    run_lane "$@" &
    lane_names+=("$1")
    lane_processes+=($!)
}

run_lane() {
    failed=()
    exec {outside}>&1 >"$lanes/$1.log" 2>&1
    "$2"
    printf '%s\n' "${failed[@]}" >"$lanes/$1.failed"
}

# join_lanes: waits for all lanes, shows what each printed, and notes what failed in them.
join_lanes() {
    local at name line
    for at in "${!lane_names[@]}"; do
        name=${lane_names[at]}
        wait "${lane_processes[at]}"
        printf '\n==> %s: all that it printed\n' "$name"
        cat "$lanes/$name.log"
        if [[ -e $lanes/$name.failed ]]; then
            while read -r line; do
                [[ ! $line ]] || failed+=("$line")
            done <"$lanes/$name.failed"
        else
            failed+=("lane $name")
        fi
    done
    lane_names=() lane_processes=()
}

# summary WHEN: names the steps that failed, and gives 1 where there are any.
summary() {
    if ((${#failed[@]})); then
        printf '\n==> failed %s:\n' "$1"
        printf '      %s\n' "${failed[@]}"
        return 1
    fi
    printf '\n==> everything passed %s\n' "$1"
}
