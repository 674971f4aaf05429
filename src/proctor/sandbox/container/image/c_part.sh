#!/bin/sh
# Provides proctor's C part for this image's Python: the one that came along if it loads here (it is
# built for the limited API), else one compiled from source, with a compiler fetched if need be.
set -eu
cd "$1/cell"

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11) or sys.implementation.name != "cpython")' || {
    echo "the base image needs CPython 3.11 or newer as python3" >&2
    exit 1
}
loads() { PYTHONPATH="$1/.." python3 -B -c 'import proctor.cell._lockdown' 2>/dev/null; }
headers() { python3 -c 'import sysconfig; print(sysconfig.get_path("include"))'; }

if loads "$1"; then exit 0; fi
rm -f _lockdown*.so
if ! command -v cc >/dev/null || [ ! -e "$(headers)/Python.h" ]; then
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends gcc libc6-dev
    [ -e "$(headers)/Python.h" ] || apt-get install -y -qq --no-install-recommends python3-dev
fi
cc -O2 -shared -fPIC -DPy_LIMITED_API=0x030b0000 -I"$(headers)" lockdown.c -o _lockdown.abi3.so
loads "$1"
