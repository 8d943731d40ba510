#!/usr/bin/env bash
# Installs those servers of the tests that no extra of pyproject.toml brings: uWSGI, which pip compiles, and Debian's
# Redis and Apache with mod_wsgi.  Quick when everything is there.
#
#   install.sh PYTHON          installs what it can; uwsgi goes into the environment of PYTHON
#   install.sh PYTHON --check  installs nothing
#
# Prints nothing when all is there, else a line for each server that is left out, which says why; the tests repeat them
# as the reason for their skips.  The status is 0 either way: AMFGATE_REQUIRE_CLIENTS=1 makes the tests fail instead.
set -uo pipefail
python=$1
check=${2:-}

leave_out() { # NAME REASON
    echo "left out: tests/servers with $1 ($2)"
}

# Run a command with its output in a log, which is kept when it fails.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() {
    "$@" >>"$log" 2>&1 && return
    trap - EXIT
    return 1
}

if [[ ! -x $(dirname "$python")/uwsgi ]]; then
    if [[ $check == --check ]]; then
        leave_out uwsgi "a C compiler and bash tests/servers/install.sh $python get it"
    elif ! quietly "$python" -m pip install --disable-pip-version-check uwsgi; then
        leave_out uwsgi "pip could not compile it, see $log"
    fi
fi

# Only the program is needed: the tests start it, on a port of its own.
if ! command -v redis-server >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt=(apt-get install -y --no-install-recommends redis-server)
    if [[ $check == --check || $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
        leave_out redis-server "root on Debian gets it by bash tests/servers/install.sh"
    elif ! quietly "${apt[@]}" && ! { quietly apt-get update && quietly "${apt[@]}"; }; then
        leave_out redis-server "apt-get failed, see $log"
    fi
fi

# mod_wsgi is built for one version of Python, which has to be that of PYTHON: its packages are used.
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
module=/usr/lib/apache2/modules/mod_wsgi.so
if [[ ! -e $module || ! -x /usr/sbin/apache2 ]]; then
    export DEBIAN_FRONTEND=noninteractive
    apt=(apt-get install -y --no-install-recommends apache2 libapache2-mod-wsgi-py3)
    if [[ $check == --check || $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
        leave_out mod_wsgi "root on Debian gets apache2 and libapache2-mod-wsgi-py3 by bash tests/servers/install.sh"
        exit
    elif ! quietly "${apt[@]}" && ! { quietly apt-get update && quietly "${apt[@]}"; }; then
        leave_out mod_wsgi "apt-get failed, see $log"
        exit
    fi
fi
built_for=$(readlink -f "$module" | sed -n 's/.*mod_wsgi\.so-//p')
if [[ $built_for != "$version" ]]; then
    leave_out mod_wsgi "it is built for Python ${built_for:-?}, and this is $version"
fi
exit 0
