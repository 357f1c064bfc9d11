# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Runs the project's own tests: ctest (C unit tests and the suites), then tests/ under pytest, whose summary comes last.
: "${root:?}" "${build:?}" "${python:?}"

# Arguments are pytest's, relative to the repository; with any of them ctest is left out.
run_own_tests() {
    local failed=0 workers=() argument paths=(tests)
    cd "$root" || return
    # Tests start hundreds of Pythons: what one has compiled, the others read, whatever this environment says of it.
    unset PYTHONDONTWRITEBYTECODE
    export PYTHONPYCACHEPREFIX=$build/pycache
    for argument; do
        [[ -e ${argument%%::*} ]] && paths=()
    done
    if (($# == 0)); then
        ctest --test-dir "$build" --output-on-failure --no-tests=error || failed=1
        workers=(-n "$(nproc)" --durations=25 --durations-min=5)
    fi
    "$python" -m pytest "${workers[@]}" "${paths[@]}" "$@" || failed=$?
    return "$failed"
}
