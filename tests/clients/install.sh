#!/usr/bin/env bash
# Installs what the client tests need: chromium and haxe from Debian, Ruffle and a browser driver from npm (into
# node_modules here, at the versions of package-lock.json).  Quick when everything is there.
#
#   install.sh          installs what it can
#   install.sh --check  installs nothing
#
# Both print nothing when all is there, else one line that names what is left out and why, which the tests repeat as
# the reason for their skip.  The status is 0 either way: AMFGATE_REQUIRE_CLIENTS=1 makes the tests fail instead.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
check=${1:-}

missing=()
reasons=()
leave_out() { # NAME REASON
    missing+=("$1")
    reasons+=("$2")
}

# Run a command with its output in a log, which is kept when it fails.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() {
    "$@" >>"$log" 2>&1 && return
    trap - EXIT
    return 1
}

# npm's own record of what it put there is as new as the lock when everything is.
record=node_modules/.package-lock.json
packages_needed() { [[ ! -f $record || package-lock.json -nt $record ]]; }

# Programs: any that are on PATH will do; the Debian packages are called like them, but for node.
wanted=()
command -v chromium >/dev/null || wanted+=(chromium)
command -v haxe >/dev/null || wanted+=(haxe)
command -v node >/dev/null || wanted+=(nodejs)
! packages_needed || command -v npm >/dev/null || wanted+=(npm)
if [[ ${#wanted[@]} -gt 0 ]]; then
    export DEBIAN_FRONTEND=noninteractive
    apt=(apt-get install -y --no-install-recommends "${wanted[@]}")
    if [[ $check == --check || $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
        leave_out "${wanted[*]}" "root on Debian gets them by bash tests/clients/install.sh"
    # The lists of packages may be missing or old: with new ones once more.
    elif ! "${apt[@]}" >"$log" 2>&1 && ! { quietly apt-get update && quietly "${apt[@]}"; }; then
        leave_out "${wanted[*]}" "apt-get failed, see $log"
    fi
fi

if command -v node >/dev/null && ! node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; then
    leave_out "node 20 or newer" "this is node $(node --version)"
fi

if packages_needed; then
    if [[ $check == --check ]] || ! command -v npm >/dev/null; then
        leave_out "the packages of package.json" "npm gets them by bash tests/clients/install.sh"
    elif quietly npm ci --no-audit --no-fund --ignore-scripts; then
        touch "$record"
    else
        leave_out "the packages of package.json" "npm failed, see $log"
    fi
fi

if [[ ${#missing[@]} -gt 0 ]]; then
    printf -v names ', %s' "${missing[@]}"
    printf -v why '; %s' "${reasons[@]}"
    echo "left out: tests/clients/test_ruffle.py, for want of ${names:2} (${why:2})"
fi
