#!/bin/sh
# Installs proctor with the extras $3 from the sources in $1 into the directory $2. Where $1/wheels holds wheels, among
# them pip's, nothing is fetched; else from the package index, with a compiler if need be.
set -eu
umask 022
source=$1
target=$2
extras=$3

set -- "$source"/wheels/pip-*.whl
if [ -e "$1" ]; then
    python3 "$1/pip" install --quiet --no-compile --no-index --find-links "$source/wheels" \
        --target "$target" "proctor[$extras]"
else
    if ! command -v cc >/dev/null; then
        apt-get update -qq
        apt-get install -y -qq --no-install-recommends gcc libc6-dev
    fi
    python3 -m pip install --quiet --no-compile --target "$target" "$source[$extras]"
fi
python3 -m compileall -q "$target"
PYTHONPATH="$target" python3 -c 'import proctor.cell._lockdown'
