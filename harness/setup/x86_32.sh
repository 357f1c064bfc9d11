# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# 32-bit loaders for x86: noticed in the arguments by their ELF header, built with -m32 in a folder of their own. Their
# processes are the machine's own, which runs both kinds. Nothing of it is needed where nobody asks for such a library.
: "${root:?}" "${build:?}"

# Whether an argument is a library of ELF class 32 for i386: byte 4 of its header is the class, bytes 18 and 19 the
# machine.
asks_for_x86_32() {
    local argument
    for argument; do
        [[ $argument != -* && -f $argument ]] || continue
        [[ $(od -An -v -tx1 -N20 "$argument" 2>/dev/null | tr -d ' \n') == 7f454c4601??????????????????????????0300 ]] &&
            return
    done
    return 1
}

# From now on everything is about 32-bit programs: the folder to build in, and what is missing.
use_x86_32() {
    # shellcheck disable=SC2034  # read by machine.sh and build.sh
    for_x86_32=1
    if [[ ${build##*/} != x86-32 ]]; then
        build=$build/x86-32
        say "a 32-bit library for x86: probe and mocks are 32-bit programs, built in $build"
    fi
    export CLHARNESS_BUILD=$build
    unset CLHARNESS_BUILD_IN_USE
}

# Ends the run for what only a 64-bit build can test. Arguments: the command, then the whole command line.
refuse_x86_32() {
    local command=$1
    shift
    if [[ $command != loader ]]; then
        say "clharness $command: 32-bit libraries are not supported there yet; clharness loader tests 32-bit loaders"
        exit 2
    fi
    local argument
    for argument; do
        case $argument in
        --vulkan | *libvulkan*) say "$argument: Vulkan loaders of 32 bits are not supported yet" && exit 2 ;;
        --torture) say "--torture is not supported for 32-bit loaders yet" && exit 2 ;;
        esac
    done
}

# A C library of 32 bits that programs can be linked with: gcc-multilib brings it.
has_x86_32() {
    local compiler=${CC:-cc}
    # shellcheck disable=SC2086  # CC may have options
    echo 'int main(void) { return 0; }' | $compiler -m32 -x c -o /dev/null - 2>/dev/null
}
