#!/usr/bin/env bash
# Installs the codecs of others that the interoperability tests exchange bytes with: bytearray-node from npm (into
# node_modules here, at the versions of package-lock.json), and as3lib-miniamf from PyPI, which has to be compiled and
# is therefore kept outside the tree, in $AMFGATE_TEST_CACHE (~/.cache/amfgate-tests).  Py3AMF is in the extra `test`.
#
#   install.sh [PYTHON]     installs what it can; as3lib-miniamf for this Python (python3)
#
# Prints nothing when all is there, else one line that names what is left out.  The status is 0 either way:
# AMFGATE_REQUIRE_CLIENTS=1 makes the tests fail instead.
set -uo pipefail
python=${1:-python3}
[[ $python != */* || $python == /* ]] || python=$PWD/$python  # it is named from where this was called
cd "$(dirname "${BASH_SOURCE[0]}")"
cache=${AMFGATE_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/amfgate-tests}

left_out=()
log=$(mktemp)
if [[ ! -f node_modules/.package-lock.json || package-lock.json -nt node_modules/.package-lock.json ]]; then
    if command -v npm >/dev/null && npm ci --no-audit --no-fund --ignore-scripts >>"$log" 2>&1; then
        touch node_modules/.package-lock.json
    else
        left_out+=("bytearray-node (needs npm)")
    fi
fi

tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
if [[ ! -d $cache/miniamf-$tag ]]; then
    work=$(mktemp -d)
    if mkdir -p "$cache" && "$python" -m pip install -q --target "$work/miniamf" as3lib-miniamf==0.9.5 >>"$log" 2>&1; then
        mv -T "$work/miniamf" "$cache/miniamf-$tag" 2>>"$log" || [[ -d $cache/miniamf-$tag ]]
    else
        left_out+=("as3lib-miniamf (needs pip and a C compiler)")
    fi
    rm -rf "$work"
fi

if [[ ${#left_out[@]} -gt 0 ]]; then
    printf -v names ', %s' "${left_out[@]}"
    echo "left out: of tests/interop, for want of ${names:2}; see $log"
else
    rm -f "$log"
fi
