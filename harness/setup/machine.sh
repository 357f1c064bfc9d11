# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What this machine has of what clharness needs, and the one function that brings it up to that: set_up.
#
# Sourced by clharness and by ci/setup, which set `root` and `build`.
: "${root:?}" "${build:?}"

say() { printf 'clharness: %s\n' "$*" >&2; }

# Ends the run: something needed is missing, or the harness itself failed.
stop() {
    say "$@"
    exit 3
}

is_debian() { [[ -e /etc/debian_version ]] && command -v apt-get >/dev/null; }

how_to_get_python() {
    if is_debian; then
        echo "apt-get install python3 (or python3.11), or set CLHARNESS_PYTHON"
    else
        echo "install it with the system's package manager, or set CLHARNESS_PYTHON"
    fi
}

# The interpreters to try. Debian's own comes before what PATH has first: its modules are what apt installs.
python_candidates() {
    if [[ ${CLHARNESS_PYTHON-} ]]; then
        command -v "$CLHARNESS_PYTHON"
        return
    fi
    local name
    for name in /usr/bin/python3 "$build/venv/bin/python" python3 python3.15 python3.14 python3.13 python3.12 python3.11; do
        command -v "$name" || true
    done
}

# Whether an interpreter is new enough: Debian's says so by the name of its file, others are asked.
is_new_enough() {
    local file
    file=$(readlink -f "$1")
    case $file in
    /usr/bin/python3.1[1-9]) [[ -x $file ]] ;;
    *) "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ;;
    esac
}

# Sets `python` to any interpreter that is new enough, with or without the modules.
find_any_python() {
    while read -r python; do
        ! is_new_enough "$python" || return 0
    done < <(python_candidates)
    python=""
    return 1
}

# python_parts NEEDS OPTION...: python_parts.py under $python. NEEDS is "build" or "tests".
python_parts() {
    local options=("${@:2}")
    [[ $1 != tests ]] || options+=(--tests)
    "$python" "$root/harness/setup/python_parts.py" ${options[@]+"${options[@]}"}
}

# Sets `python` to an interpreter that has the modules. What was found is kept in the build folder, and holds until one
# of the folders changes in which the modules were, the list of them, or what there is to choose from.
find_python() {
    if known_python "$1"; then
        return 0
    fi
    while read -r python; do
        if ! python_parts "$1" 2>/dev/null; then
            continue
        fi
        keep_python "$1"
        return 0
    done < <(python_candidates)
    python=""
    return 1
}

known_python() {
    local kept=$build/setup.python-$1 folders now
    [[ -r $kept ]] || return 1
    { read -r python && read -r folders && now=$(cat); } <"$kept" || return 1
    [[ $now == "$(state_of_python "$1" "$folders")" ]]
}

keep_python() {
    local folders
    [[ -d $build && -w $build ]] || return 0
    folders=$("$python" "$root/harness/setup/python_parts.py" --folders "${@/tests/--tests}")
    printf '%s\n' "$python" "$folders" "$(state_of_python "$1" "$folders")" >"$build/setup.python-$1.$$" &&
        mv "$build/setup.python-$1.$$" "$build/setup.python-$1"
}

# state_of_python NEEDS FOLDERS: what the choice depends on. FOLDERS are separated by colons.
state_of_python() {
    local folders
    IFS=: read -ra folders <<<"$2"
    printf '%s\n' "${CLHARNESS_PYTHON-}" "${PYTHONPATH-}" "$PATH"
    stat -L -c '%n %i %Y %Z' "$python" "$root/pyproject.toml" "$root/harness/setup/python_parts.py" "${folders[@]}" 2>&1
}

# A compiler that can compile: on Debian gcc comes without the C library's headers.
has_compiler() {
    local names=(cc gcc clang)
    [[ ! ${CC-} ]] || names=("${CC%% *}")
    command -v "${names[@]}" >/dev/null && { ! is_debian || [[ -e /usr/include/stdio.h ]]; }
}

# A build folder that has been configured knows its headers, wherever they are.
has_headers() {
    [[ -e $build/clharness.json || -e ${CLHARNESS_OPENCL_HEADERS:-/usr/include}/CL/cl_icd.h ]] ||
        [[ ! ${CLHARNESS_OPENCL_HEADERS-} && -e /usr/local/include/CL/cl_icd.h ]]
}

has_system_loader() {
    compgen -G '/usr/lib/*/libOpenCL.so.1' >/dev/null || compgen -G '/usr/lib*/libOpenCL.so.1' >/dev/null ||
        { PATH=$PATH:/usr/sbin:/sbin ldconfig -p 2>/dev/null | grep -q 'libOpenCL\.so\.1 '; }
}

# The distributions that pyproject.toml lists, without a Python that could read it. NEEDS is "build" or "tests".
python_modules() {
    local list=dependencies
    [[ $1 != tests ]] || list='(dependencies|tests)'
    sed -nE "/^$list = \[/,/\]/p" "$root/pyproject.toml" | grep -oE '"[a-z][^">]+' | tr -d '"' | paste -sd' '
}

# Sets `missing` (needed) and `wanted` (better with it) to words of the table in install.sh. A machine without an
# OpenCL loader stays without one, because that would change what its programs see: `clharness loader` then tests the
# reference loader. Only the project's own tests need the system's.
look_around() {
    local needs=$1
    missing=() wanted=()
    if ! find_python "$needs"; then
        [[ ! ${CLHARNESS_PYTHON-} ]] ||
            stop "CLHARNESS_PYTHON ($CLHARNESS_PYTHON) must be Python 3.11 or newer with $(python_modules "$needs")"
        missing+=(python-modules)
    fi
    has_compiler || missing+=(compiler)
    command -v cmake >/dev/null || missing+=(cmake)
    command -v ninja >/dev/null || command -v make >/dev/null || missing+=(make)
    has_headers || missing+=(headers)
    [[ $needs != tests ]] || has_system_loader || missing+=(loader)
    if [[ ${for_windows-} ]]; then
        command -v x86_64-w64-mingw32-gcc >/dev/null || missing+=(mingw)
        wine_program >/dev/null || missing+=(wine)
        return
    fi
    [[ ! ${other_machine-} ]] || can_build_for "$other_machine" || missing+=("compiler-$other_machine")
    command -v bwrap >/dev/null || wanted+=(bubblewrap)
    [[ $needs != tests ]] || command -v gdb >/dev/null || wanted+=(gdb)
    [[ $needs != tests ]] || command -v git >/dev/null || wanted+=(git)
    [[ $needs != tests ]] || command -v chromedriver >/dev/null || wanted+=(browser)
}

# Makes the folder to build in; says in one sentence why it cannot.
make_build_folder() {
    mkdir -p "$build" 2>/dev/null || true
    [[ -w $build ]] || stop "cannot write to $build: set CLHARNESS_BUILD to a folder that can be written to"
}

# CMake cannot build in a folder with some of these in its path, and lists of paths end at the others.
require_path() {
    case $1 in
    *[\"\#\;\<\>:\\\$\[$'\n\t']*)
        stop "cannot build in $(printf '%q' "$1"): CMake takes no path with one of \" # \$ [ ; < > : \\ or a line break; $2"
        ;;
    esac
}

# set_up NEEDS NO_INSTALL: installs what is missing, builds what is not built. NEEDS is "build" or "tests".
set_up() {
    local needs=$1 no_install=$2
    local -x LC_ALL=C # order of files and words of programs are not the user's
    # shellcheck source=harness/setup/build.sh
    source "$root/harness/setup/build.sh"
    require_path "$root" "put the checkout elsewhere"
    require_path "$build" "set CLHARNESS_BUILD to another folder"
    [[ -d $build ]] || make_build_folder
    look_around "$needs"
    if ((${#missing[@]} + ${#wanted[@]})); then
        # shellcheck source=harness/setup/install.sh
        source "$root/harness/setup/install.sh"
        provide "$needs" "$no_install"
    fi
    use_build
    [[ ! ${for_windows-} ]] || make_prefix
}
