#!/bin/sh
# Prints the servers of DIR as open-r1's and proctor's PISTON_ENDPOINTS want them, with the token as a
# password, once at least COUNT of them take work:
#
#   PISTON_ENDPOINTS=$(deploy/slurm/piston-endpoints.sh DIR [COUNT])
set -eu
dir=${1:?piston-endpoints.sh DIR [COUNT]}
until [ "$(cat "$dir/urls" 2>/dev/null | wc -l)" -ge "${2:-1}" ]; do sleep 1; done
token=$(sed -n '1s/^[^:]*://p' "$dir/tokens")
sed "s|^http://\(.*\)|http://proctor:$token@\1/api/v2|" "$dir/urls" | paste -sd,
