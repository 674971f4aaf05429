#!/bin/sh
# Installs what programs in this image are to find: names of packages, and wheels that came along.
set -eu
[ $# -gt 0 ] || exit 0
python3 -m pip --version >/dev/null 2>&1 || python3 -m ensurepip >/dev/null
cd /opt/wheels
exec python3 -m pip install --no-cache-dir --disable-pip-version-check --root-user-action=ignore "$@"
