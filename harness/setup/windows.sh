# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Windows' libraries: noticed in the arguments, built with mingw in a folder of their own, run by Wine in a prefix of that
# folder. Nothing of it is needed or looked at where nobody asks for a Windows library.
: "${root:?}" "${build:?}"

# Whether an argument asks for Windows: a file that begins as its libraries do, the name of one that is yet to be built,
# or --windows.
asks_for_windows() {
    local argument
    for argument; do
        case $argument in
        --windows | *.[dD][lL][lL]) return ;;
        -*) ;;
        *) [[ ! -f $argument || $(head -c 2 "$argument" 2>/dev/null | tr -d '\0') != MZ ]] || return 0 ;;
        esac
    done
    return 1
}

# From now on everything is about Windows: the folder to build in, and what is missing.
use_windows() {
    # shellcheck disable=SC2034  # read by machine.sh and build.sh
    for_windows=1
    [[ ${build##*/} == mingw ]] || build=$build/mingw
    export CLHARNESS_BUILD=$build
    unset CLHARNESS_BUILD_IN_USE
}

wine_program() { command -v /usr/lib/wine/wine64 || command -v wine64; }
wine_server() { command -v /usr/lib/wine/wineserver64 || command -v wineserver; }

# The variables of harness/sandbox/wine.py.
in_prefix() {
    env -u DISPLAY -u WAYLAND_DISPLAY WINEPREFIX="$build/wine" HOME="$build/wine" WINEDEBUG=-all \
        WINEDLLOVERRIDES='mscoree,mshtml=;opencl=n;winedbg.exe=d' "$@"
}

zones='HKLM\Software\Microsoft\Windows NT\CurrentVersion\Time Zones'

# Wine's folder, made once. What runs in it afterwards ends with the commands that use it.
make_prefix() {
    [[ ! -e $build/wine/.complete ]] || return 0
    say "making a Wine prefix in $build/wine (about 700 MB; the user's own is left alone)"
    rm -rf "$build/wine"
    mkdir -p "$build/wine"
    logged "making the Wine prefix" in_prefix "$(wine_program)" wineboot -i
    # Each process looks through all of them for the machine's own: half of what Wine asks its server at a start.
    logged "removing the time zones of the prefix" in_prefix "$(wine_program)" reg delete "$zones" /f
    in_prefix "$(wine_server)" -k >/dev/null 2>&1 || true
    in_prefix "$(wine_server)" -w >/dev/null 2>&1 || true
    : >"$build/wine/.complete"
}
