#!/usr/bin/env bash
# Compiles a Royale application, Main.mxml and the .as files beside it, and prints the folder it is in.
#
#   install.sh [FOLDER [LIBRARY...]]          compiles it, unless the same sources were compiled before
#   install.sh --check [FOLDER [LIBRARY...]]  compiles nothing
#
# FOLDER is where its sources are: this one, or another that is beside it.  A LIBRARY is a .swc of Royale's that is not
# among those it links by itself.
#
# The compiler is Apache Royale's from npm, 330 MB with all it needs, and runs on Java 11 or newer.  It and what it
# compiled are kept outside the tree, in $AMFGATE_TEST_CACHE (~/.cache/amfgate-tests), so that one clone after another
# uses them: 25 s once, then nothing.  The folder of a compiled application is named by a hash of what it was made of.
#
# Prints the folder, or else one line that begins with "left out:" and says what is missing, which the tests repeat as
# the reason for their skip.  The status is 0 either way: AMFGATE_REQUIRE_CLIENTS=1 makes the tests fail instead.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

check=
if [[ ${1:-} == --check ]]; then
    check=yes
    shift
fi
name=${1:-royale}
libraries=("${@:2}")

VERSION=0.9.12
cache=${AMFGATE_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/amfgate-tests}
compiler=$cache/royale-$VERSION
hash=$({ echo "$VERSION" "${libraries[@]}"; cat "$name"/*.mxml "$name"/*.as; } | sha256sum | cut -c1-16)
app=$cache/royale-app-$hash

left_out() {
    echo "left out: tests/clients/test_$name.py, for want of $1 ($2)"
    exit 0
}

if [[ -f $app/index.html ]]; then
    echo "$app"
    exit 0
fi
[[ -z $check ]] || left_out "its compiled application" "bash tests/clients/$name/install.sh makes it"
command -v java >/dev/null || left_out "java" "Debian has it in default-jre-headless"
mkdir -p "$cache" || left_out "a folder for it" "$cache cannot be made"

# Work in a folder of this run, and move what is done into place: a run that was broken off leaves nothing half made.
work=$(mktemp -d "$cache/work-XXXXXX")
trap 'rm -rf "$work"' EXIT
log=$cache/$name.log
if [[ ! -d $compiler ]]; then
    command -v npm >/dev/null || left_out "npm" "Debian has it in npm"
    npm install --prefix "$work/npm" --no-audit --no-fund --ignore-scripts "@apache-royale/royale-js@$VERSION" \
        >"$log" 2>&1 || left_out "@apache-royale/royale-js" "npm failed, see $log"
    mv -T "$work/npm" "$compiler" 2>>"$log" || [[ -d $compiler ]] || left_out "its place" "see $log"
fi
cp "$name"/*.mxml "$name"/*.as "$work"
royale=$compiler/node_modules/@apache-royale/royale-js/royale-asjs
paths=()
for library in "${libraries[@]}"; do
    paths+=("-js-library-path+=$royale/frameworks/js/libs/$library")
done
bash "$royale/js/bin/mxmlc" -targets=JSRoyale -debug=true "${paths[@]}" "$work/Main.mxml" >"$log" 2>&1
[[ -f $work/bin/js-debug/index.html ]] || left_out "its compiled application" "the compiler failed, see $log"
mv -T "$work/bin/js-debug" "$app" 2>>"$log" || [[ -f $app/index.html ]] || left_out "its place" "see $log"
echo "$app"
