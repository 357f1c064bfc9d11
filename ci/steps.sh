# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Steps of .ci/run and ci/nightly: each is bounded in time, and those after one that failed run all the same.
failed=()

# Sets `spent` to the processor time of all that this shell has started and waited for, in seconds.
processor_time() {
    local fields
    read -ra fields <"/proc/$$/stat"
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
    if ((status == 0)); then
        printf '==> %s: passed (%d s, %d s of processor time)\n' "$name" "$@"
    else
        printf '==> %s: FAILED, status %d (%d s, %d s of processor time)\n' "$name" "$status" "$@"
        failed+=("$name")
        return 1
    fi
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
