# shellcheck shell=bash
# Configures and builds with CMake where the build is not current. The output goes to setup.log, and to the terminal
# only where something fails.
: "${root:?}" "${build:?}"

# What the build was made from, apart from this repository's files: another Python or set of headers needs a new
# one. Packaged headers carry their release's date, so that make cannot notice newer ones by itself.
build_identity() {
    printf '%s\n' "$root" "${python:?}" "${CLHARNESS_OPENCL_HEADERS-}"
    stat -c '%n %s %Y' "${CLHARNESS_OPENCL_HEADERS:-/usr/include}"/CL/*.h 2>/dev/null || true
}

build_is_current() {
    local stamp=$build/setup.built newer
    [[ -e $build/clharness.json && -e $stamp && $(<"$stamp") == "$(build_identity)" ]] || return
    newer=$(cd "$root" && find . \( -path './build*' -o -path './.?*' -o -samefile "$build" \) -prune -o \
        \( -name '*.[ch]' -o -name '*.in' -o -name '*.cmake' -o -name CMakeLists.txt -o -path './harness/api/*.py' -o \
            -path './harness/reference_loader/*' -o -path './harness/api/contract/*.toml' -o \
            -path './harness/selftest/*' \) \
        -newer "$stamp" -print -quit)
    [[ ! $newer ]]
}

# A folder that a person configured is left as it is.
must_configure() {
    [[ -e $build/build.ninja || -e $build/Makefile ]] || return 0
    belongs_to_another_checkout || { [[ -e $build/setup.built ]] && [[ $(<"$build/setup.built") != "$(build_identity)" ]]; }
}

belongs_to_another_checkout() {
    [[ -e $build/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"
}

configure() {
    local options=(-S "$root" -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCLHARNESS_PYTHON=$python")
    [[ ! ${CLHARNESS_OPENCL_HEADERS-} ]] || options+=("-DCLHARNESS_OPENCL_HEADERS=$CLHARNESS_OPENCL_HEADERS")
    if belongs_to_another_checkout; then
        rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"
    fi
    if [[ ! ${CMAKE_GENERATOR-} && ! -e $build/CMakeCache.txt ]] && command -v ninja >/dev/null; then
        options+=(-G Ninja)
    fi
    cmake "${options[@]}" && cmake --build "$build" --target clean
}

compile() { cmake --build "$build" --parallel "$(nproc)"; }

# Runs a step with its output in the log; ends the run with the log's end where it fails.
logged() {
    local what=$1
    shift
    if ! "$@" </dev/null >>"$build/setup.log" 2>&1; then
        tail -n 40 "$build/setup.log" >&2
        stop "$what failed: the lines above are the end of $build/setup.log"
    fi
}

build_all() {
    make_build_folder
    # Two runs that start at once must not build into each other's files.
    exec {lock}>"$build/setup.lock"
    ! command -v flock >/dev/null || flock "$lock"
    if ! build_is_current; then
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
    fi
    exec {lock}>&-
}
