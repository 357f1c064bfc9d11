# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The Debian mirror of this machine, for ci/loaders and ci/systems, which take other releases from it.

# mirror [OPTION...]: prints the URI of the Debian mirror that this machine's release comes from, as apt itself
# understands its sources. Options go to apt-get. Prints nothing where the package lists are not there.
mirror() {
    local codename
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
    # shellcheck disable=SC2016 # apt-get itself expands this
    apt-get "$@" indextargets --format '$(REPO_URI)' \
        'Created-By: Packages' 'Origin: Debian' "Codename: $codename" 'Component: main' | sed -n 1p
}

# mirror_or_update FOLDER: the same, on a machine without package lists, too: reads them to that folder.
mirror_or_update() {
    local uri elsewhere=(-qq -o Dir::State::lists="$1" -o APT::Sandbox::User="$(id -un)")
    uri=$(mirror)
    if [[ ! $uri ]]; then
        mkdir -p "$1/partial"
        apt-get "${elsewhere[@]}" update >&2 || true
        uri=$(mirror "${elsewhere[@]}")
    fi
    echo "$uri"
}
