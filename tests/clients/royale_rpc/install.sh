#!/usr/bin/env bash
# Compiles the application of test_royale_rpc.py, with the libraries that mx.rpc is in; see ../royale/install.sh.
exec bash "$(dirname "${BASH_SOURCE[0]}")/../royale/install.sh" "$@" royale_rpc MXRoyaleBaseJS.swc MXRoyaleJS.swc
