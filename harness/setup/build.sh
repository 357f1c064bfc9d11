# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Configures and builds with CMake where there is work, and keeps the build as it is while a command uses it. What is to
# be done is asked of the build tool. Output goes to setup.log, and to the terminal only where something fails.
: "${root:?}" "${build:?}"

# What the build tool cannot see by itself: another checkout, another Python, another set of headers. Packaged headers
# carry their release's date, so that newer ones may look old.
build_identity() {
    printf '%s\n' "$root" "${python:?}" "${CLHARNESS_OPENCL_HEADERS-}"
    stat -c '%n %s %Y' "${CLHARNESS_OPENCL_HEADERS:-/usr/include}"/CL/*.h 2>/dev/null || true
}

has_identity() { [[ -e $build/setup.built && $(<"$build/setup.built") == "$(build_identity)" ]]; }

# Only Ninja can be asked; where make builds, it always runs.
build_is_current() {
    [[ -e $build/clharness.json && -e $build/build.ninja ]] && has_identity &&
        [[ $(build_tool_asked) == *"no work to do"* ]]
}

# What Ninja would do. It is run itself where CMake says which one it is: `cmake --build` does nothing else.
build_tool_asked() {
    local ninja=""
    if [[ -e $build/CMakeCache.txt ]]; then
        ninja=$(sed -n 's/^CMAKE_MAKE_PROGRAM:[A-Z]*=//p' "$build/CMakeCache.txt")
    fi
    if [[ $ninja == *ninja* && -x $ninja ]]; then
        "$ninja" -C "$build" -n 2>/dev/null
    else
        cmake --build "$build" -- -n 2>/dev/null
    fi
}

# A folder that a person configured is left as it is.
must_configure() {
    [[ -e $build/build.ninja || -e $build/Makefile ]] || return 0
    belongs_elsewhere || { [[ -e $build/setup.built ]] && ! has_identity; }
}

# To another checkout, or to a folder of another name, from which it was moved or copied.
belongs_elsewhere() {
    local cache=$build/CMakeCache.txt
    [[ -e $cache ]] || return 1
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache" ||
        [[ ! $(sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p' "$cache") -ef $build ]]
}

configure() {
    local options=(-S "$root" -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCLHARNESS_PYTHON=$python")
    [[ ! ${for_windows-} ]] || options+=("-DCMAKE_TOOLCHAIN_FILE=$root/cmake/mingw.cmake")
    [[ ! ${other_machine-} ]] || options+=("-DCMAKE_TOOLCHAIN_FILE=$root/cmake/${other_machine//-/_}.cmake"
        -DCLHARNESS_BUILD_TESTS=OFF -DCLHARNESS_BUILD_FUZZ=OFF)
    [[ ! ${CLHARNESS_OPENCL_HEADERS-} ]] || options+=("-DCLHARNESS_OPENCL_HEADERS=$CLHARNESS_OPENCL_HEADERS")
    [[ ! ${CLHARNESS_WERROR-} ]] || options+=(-DCLHARNESS_WERROR=ON) # as CI wants it
    if belongs_elsewhere; then
        rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"
    fi
    if [[ ! ${CMAKE_GENERATOR-} && ! -e $build/CMakeCache.txt ]] && command -v ninja >/dev/null; then
        options+=(-G Ninja)
    fi
    cmake "${options[@]}" && cmake --build "$build" --target clean
}

compile() { cmake --build "$build" --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"; }

# Runs a step with its output in the log; ends the run with the log's end where it fails.
logged() {
    local what=$1
    shift
    if ! "$@" </dev/null >>"$build/setup.log" 2>&1; then
        tail -n 40 "$build/setup.log" >&2
        stop "$what failed: the lines above are the end of $build/setup.log"
    fi
}

# Needs the lock for itself.
build_all() {
    local now=$build/setup.now
    build_identity >"$now"
    : >"$build/setup.log"
    if must_configure; then
        say "configuring and building in $build (log: setup.log)"
        logged "configuring" configure
    else
        say "building what has changed"
    fi
    logged "building" compile
    mv "$now" "$build/setup.built"
}

# wait_for OPTION REASON: takes the lock. Where that does not succeed at once, says why, who has it, and for how long it
# waits, and ends the run after that.
wait_for() {
    command -v flock >/dev/null || return 0
    flock "$1" --nonblock "$lock" && return
    say "$2"
    "$python" "$root/harness/build_lock.py" "$build/setup.lock" "$wait_limit" || true
    flock "$1" --timeout "$wait_limit" "$lock" ||
        stop "$build was in use for $wait_limit s (CLHARNESS_BUILD_WAIT):" \
            "end the processes above, or name another folder with CLHARNESS_BUILD"
}

# Sets `wait_limit`: seconds that other commands are waited for.
read_wait_limit() {
    wait_limit=${CLHARNESS_BUILD_WAIT:-1800}
    if [[ ! $wait_limit =~ ^[0-9]{1,7}$ ]] || ((10#$wait_limit > 1000000)); then
        say "CLHARNESS_BUILD_WAIT is '$wait_limit'; it must be a number of seconds, 0 to 1000000"
        exit 2
    fi
    wait_limit=$((10#$wait_limit))
}

# Brings the build up to date, and holds a shared lock on its folder from then on: this process keeps the open file, and
# so does the command line that takes its place. A build has the folder for itself. A command that was started by one
# that holds it finds the build as that one left it.
use_build() {
    read_wait_limit
    [[ ${CLHARNESS_BUILD_IN_USE-} != "$build" ]] || return 0
    if [[ -e $build/clharness.json && ! -e $build/CMakeCache.txt ]]; then
        return # part of another project, which builds it: to configure here would destroy that
    fi
    if [[ ! -w $build ]] && build_is_current; then
        return # nobody can build in it
    fi
    make_build_folder
    exec {lock}>>"$build/setup.lock"
    export CLHARNESS_BUILD_IN_USE=$build
    wait_for --shared "waiting for another command, which is building in $build"
    if ! build_is_current; then
        ! command -v flock >/dev/null || flock --unlock "$lock"
        wait_for --exclusive "waiting until no other command uses $build: it must be built again, under no running case"
        build_is_current || build_all
        wait_for --shared "waiting for another command, which is building in $build"
    fi
}
