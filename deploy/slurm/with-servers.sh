#!/bin/bash
# Starts servers, runs a command as soon as one of them takes work, and ends them with it:
#
#   deploy/slurm/with-servers.sh DIR --array=1-8 -- proctor judge --on @DIR/urls ...
#
# DIR must be shared by all nodes; what stands before `--` is for the servers' sbatch, as
# --partition=cpu --cpus-per-task=16. It can be a job itself, `sbatch deploy/slurm/with-servers.sh
# ...`: preempted, it tells the command to stop (SIGTERM), and is started again by Slurm; `proctor
# judge --out FILE` then goes on where it was.
#SBATCH --job-name=proctor
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=4G
#SBATCH --time=24:00:00
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
set -euo pipefail

dir=${1:?with-servers.sh DIR [options of sbatch] -- COMMAND...}
shift
options=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    options+=("$1")
    shift
done
[ $# -ge 2 ] || { echo "with-servers.sh DIR [options of sbatch] -- COMMAND..." >&2; exit 2; }
shift

here=$(dirname "$0")
if [[ $0 == */slurm_script ]]; then  # a copy of Slurm's, where nothing of ours lies beside it
    here=$(dirname "$(scontrol show job "$SLURM_JOB_ID" | sed -n 's/^ *Command=\([^ ]*\).*/\1/p')")
fi

(
    umask 077
    mkdir -p "$dir"
    [ -s "$dir/tokens" ] ||
        echo "$(id -un):$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')" >"$dir/tokens"
)
PROCTOR_TOKEN=$(sed -n '1s/^[^:]*://p' "$dir/tokens")
export PROCTOR_TOKEN

servers=$(sbatch --parsable "${options[@]}" "$here/servers.sh" "$dir")
servers=${servers%%;*}  # a name of a cluster may follow
command=
signals=0
stop() {
    signals=$((signals + 1))
    [ -z "$command" ] || kill -TERM "$command" 2>/dev/null || true
}
trap 'scancel "$servers"' EXIT
trap stop TERM INT

until [ -s "$dir/urls" ]; do
    [ "$signals" = 0 ] || exit 143
    if [ -z "$(squeue --noheader --jobs "$servers" 2>/dev/null)" ]; then
        echo "no server came up: see proctor-servers-${servers}_*.log" >&2
        exit 1
    fi
    sleep 1
done
"$@" &
command=$!
until
    told=$signals status=0
    wait "$command" || status=$?
    [ "$told" = "$signals" ]  # else it was a signal that ended the waiting
do :; done
exit "$status"
