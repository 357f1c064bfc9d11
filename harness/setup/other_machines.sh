# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Loaders for other machines than this one, noticed in the arguments by their ELF header, each kind with a build in a
# folder of its own: 32-bit x86 (-m32; this machine runs both kinds), and 64-bit ARM (a cross compiler; qemu-user runs
# the probe). Nothing of it is needed where nobody asks for such a library.
: "${root:?}" "${build:?}"

# Prints "x86-32" or "arm64" where an argument is such a library and this machine is another: byte 4 of its header is the
# class, byte 5 the order of bytes, bytes 18 and 19 the machine.
other_machine_of() {
    local argument header
    for argument; do
        [[ $argument != -* && -f $argument ]] || continue
        header=$(od -An -v -tx1 -N20 "$argument" 2>/dev/null | tr -d ' \n')
        case $header in
        7f454c4601??????????????????????????0300) echo x86-32 ;;
        7f454c460201????????????????????????b700) [[ $(uname -m) == aarch64 ]] || echo arm64 ;;
        *) continue ;;
        esac
        return
    done
}

words_of_machine() {
    case $1 in
    x86-32) echo "32-bit library for x86" ;;
    arm64) echo "library for 64-bit ARM" ;;
    esac
}

# use_other_machine MACHINE: from now on everything is about programs for it: the folder to build in, and what is missing.
use_other_machine() {
    # shellcheck disable=SC2034  # read by machine.sh and build.sh
    other_machine=$1
    if [[ ${build##*/} != "$1" ]]; then
        build=$build/$1
        say "a $(words_of_machine "$1"): probe and mocks are built for it in $build"
    fi
    export CLHARNESS_BUILD=$build
    unset CLHARNESS_BUILD_IN_USE
}

# Ends the run for what only a build for this machine can test. Arguments: the machine, the command, then the whole
# command line.
refuse_on_other_machine() {
    local what command=$2 argument
    what=$(words_of_machine "$1")
    shift 2
    if [[ $command != loader ]]; then
        say "clharness $command: a $what is not supported there yet; clharness loader tests such loaders"
        exit 2
    fi
    for argument; do
        case $argument in
        --vulkan | *libvulkan*) say "$argument: a $what is not supported as a Vulkan loader yet" && exit 2 ;;
        --torture) say "--torture is not supported for a $what yet" && exit 2 ;;
        esac
    done
}

# can_build_for MACHINE: a compiler for it with a C library, and what runs its programs.
can_build_for() {
    local compiler=${CC:-cc}
    case $1 in
    x86-32) compiler+=" -m32" ;;
    arm64)
        compiler=aarch64-linux-gnu-gcc
        command -v qemu-aarch64-static >/dev/null || command -v qemu-aarch64 >/dev/null || return
        ;;
    esac
    # shellcheck disable=SC2086  # it may have options
    echo 'int main(void) { return 0; }' | $compiler -x c -o /dev/null - 2>/dev/null
}
