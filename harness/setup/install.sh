# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: Apache-2.0
# Installs what machine.sh found missing: with apt-get on Debian and its kin, Python modules else in build/venv.
#
# Sourced only where something is missing. Says what it installs before it does; apt-get's own words go to setup.log.
: "${root:?}" "${build:?}"
# `python`, `missing`, `wanted` and `needs` come from machine.sh.

# An old release has an old Python, and apt-get's modules are for that one.
debian_python_is_too_old() {
    [[ -x /usr/bin/python3 ]] && ! /usr/bin/python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'
}

# The package without a version in its name and cross compilers remove each other.
multilib_package() {
    local name
    name=$(apt-cache depends gcc-multilib 2>/dev/null | sed -nE 's/^ *Depends: (gcc-[0-9]+-multilib)$/\1/p') || true
    echo "${name:-gcc-multilib}"
}

# Emulators that are linked statically: libraries that are preloaded are for the emulated program alone. Debian 13 renamed
# their package.
qemu_package() {
    if [[ $(apt-cache show qemu-user-static 2>/dev/null) ]]; then echo qemu-user-static; else echo qemu-user; fi
}

# The Debian packages that give one of the words that look_around sets.
packages_of() {
    case $1 in
    compiler) echo gcc libc6-dev ;;
    make) echo ninja-build ;;
    headers) echo opencl-c-headers ;;
    loader) echo ocl-icd-libopencl1 ;;
    mingw) echo gcc-mingw-w64-x86-64-win32 ;;
    compiler-x86-32) multilib_package ;;
    compiler-arm64) echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross "$(qemu_package)" ;;
    wine) echo wine64 ;;
    browser) echo chromium chromium-driver ;;
    python-modules)
        if debian_python_is_too_old; then
            echo python3.11 python3.11-venv # its modules then come from pip
        else
            echo python3
            python_modules "$needs" | sed -E 's/([^ ]+)/python3-\1/g'
        fi
        ;;
    *) echo "$1" ;;
    esac
}

# The same for a person, on any system.
words_of() {
    case $1 in
    compiler) echo "a C compiler (gcc or clang) with the C library's headers" ;;
    cmake) echo "CMake 3.16 or newer" ;;
    make) echo "Ninja or make" ;;
    headers) echo "the OpenCL-Headers with CL/cl_icd.h (or CLHARNESS_OPENCL_HEADERS set to their folder)" ;;
    loader) echo "an OpenCL ICD loader, libOpenCL.so.1 (which the project's own tests are run against)" ;;
    python-modules) echo "Python 3.11 or newer with $(python_modules "$needs")" ;;
    compiler-arm64) echo "a cross compiler with its C library, aarch64-linux-gnu-gcc, and qemu-aarch64 (static)" ;;
    compiler-x86-32) echo "a C compiler that makes 32-bit programs, too (gcc -m32 with a 32-bit C library)" ;;
    mingw) echo "a compiler for 64-bit Windows, x86_64-w64-mingw32-gcc (mingw-w64)" ;;
    wine) echo "Wine for 64-bit programs (wine64)" ;;
    bubblewrap) echo "bubblewrap (cases that need a private /etc/OpenCL are unsupported without it)" ;;
    git) echo "git (some tests make repositories)" ;;
    gdb) echo "gdb (shows where a hung program stands)" ;;
    browser) echo "Chromium with its driver, chromedriver (which opens the HTML page in tests)" ;;
    esac
}

# Prints the way to become root without a question ("" when we are); fails where there is none.
root_by() {
    if ((EUID == 0)); then
        echo ""
    else
        sudo -n true 2>/dev/null && echo "sudo -n"
    fi
}

# apt_get ACTION...: as root, without questions, its output in setup.log.
apt_get() {
    local become
    become=$(root_by) || return
    # dpkg refuses to run where PATH lacks the sbin folders. $become is empty or two words.
    # shellcheck disable=SC2086
    $become env PATH="$PATH:/usr/sbin:/sbin" DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@" </dev/null >>"$build/setup.log" 2>&1
}

has_package_lists() { compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; }

# Updating may fail for a source that we do not need, so only the installation's own success counts. Lists are
# fetched where there are none, and once more where the installation fails (a list can name what has been replaced).
apt_install() {
    local install=(install -y --no-install-recommends --no-remove "$@")
    if has_package_lists; then
        apt_get "${install[@]}" && return
    fi
    if [[ ! ${lists_are_new-} ]]; then
        say "updating the package lists (apt-get update)"
        apt_get update || true
        lists_are_new=1
    fi
    apt_get "${install[@]}"
}

# A system's Python without the modules: they go into a virtual environment of our own.
make_venv() {
    local requirements
    find_any_python || return
    mapfile -t requirements < <(python_parts "$needs" --requirements)
    say "installing with pip into $build/venv: ${requirements[*]}"
    "$python" -m venv "$build/venv" >>"$build/setup.log" 2>&1 &&
        "$build/venv/bin/python" -m pip install --quiet "${requirements[@]}" </dev/null >>"$build/setup.log" 2>&1
}

# Sets `packages` to the Debian packages of the given words.
list_packages() {
    local word words
    packages=()
    for word; do
        read -d '' -ra words < <(packages_of "$word") || true
        packages+=("${words[@]}")
    done
}

install_by_apt() {
    local packages needed
    list_packages "${missing[@]}"
    needed=("${packages[@]}")
    list_packages "${missing[@]}" "${wanted[@]}"
    say "installing with apt-get: ${packages[*]}"
    apt_install "${packages[@]}" && return
    # What is only better to have must not keep the rest away.
    ((${#wanted[@]} && ${#needed[@]})) && apt_install "${needed[@]}"
}

# Ends the run: names what is missing and how to get it.
give_up() {
    local word packages sudo="sudo "
    ((EUID)) || sudo=""
    for word in "${missing[@]}"; do
        say "missing: $(words_of "$word")"
    done
    for word in "${wanted[@]}"; do
        say "missing, but not needed: $(words_of "$word")"
    done
    if is_debian; then
        list_packages "${missing[@]}" "${wanted[@]}"
        say "get it with: ${sudo}apt-get install -y --no-install-recommends ${packages[*]}"
    else
        say "get it with the system's package manager (Python modules: python3 -m pip install in an environment" \
            "that CLHARNESS_PYTHON names)"
    fi
    exit 3
}

# Shows why an installation failed, in the installer's own words.
show_errors() {
    grep -m 1 'Failed to fetch' "$build/setup.log" >&2 ||
        grep -E '^(E|ERROR|Error): ' "$build/setup.log" | tail -n 2 >&2 || true
}

# Brings in what is in `missing`, and tries once for what is in `wanted`. Arguments as for set_up.
provide() {
    local needs=$1 no_install=$2 tried=$build/setup.tried
    if [[ $no_install ]]; then
        ((${#missing[@]} == 0)) && return
        give_up
    fi
    : >"$build/setup.log"
    if is_debian && root_by >/dev/null; then
        if ((${#missing[@]})) || [[ $(cat "$tried" 2>/dev/null) != "${wanted[*]}" ]]; then
            if ! install_by_apt; then
                show_errors
                say "apt-get could not install everything: is there a network? (its output is in $build/setup.log)"
            fi
            look_around "$needs"
            echo "${wanted[*]}" >"$tried"
        fi
    fi
    if [[ ${missing[*]} == python-modules ]] || { [[ ${missing[*]} == *python-modules* ]] && ! is_debian; }; then
        make_venv || { show_errors && say "could not make $build/venv (the output is in $build/setup.log)"; }
        look_around "$needs"
    fi
    ((${#missing[@]} == 0)) || give_up
}
