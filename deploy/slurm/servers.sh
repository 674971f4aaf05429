#!/bin/bash
# One `proctor serve` for each task of a job array, on whatever port is free there:
#
#   sbatch --array=1-8 deploy/slurm/servers.sh DIR [options of proctor serve]
#
# DIR is on a file system that all nodes share, and has the file `tokens`. While a server takes work,
# its address is a line of DIR/urls, for `--on @DIR/urls`.
#SBATCH --job-name=proctor-servers
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem-per-cpu=2G
#SBATCH --time=24:00:00
#SBATCH --output=%x-%A_%a.log
#SBATCH --open-mode=append
# Preempted, or on a node that fails, it is started again.
#SBATCH --requeue
# Before its time is over, and where Slurm has preempt_send_user_signal when it is preempted, it hears
# of it: the server lets what runs end within 30 seconds. To end it by hand: scancel.
#SBATCH --signal=B:TERM@40
set -euo pipefail
shopt -s nullglob
umask 077

dir=$(realpath "${1:?sbatch --array=1-8 servers.sh DIR [options of proctor serve]}")
servers=$dir/servers
me=${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}_${SLURM_ARRAY_TASK_ID:-0}
mkdir -p "$servers"

# The list is replaced whole, so that nobody reads half of it; and once more if it is not what there
# is by then, since others come and go at the same time. No lock: not every file system has any.
publish() {
    until cat /dev/null "$servers"/*.url | cmp -s - "$dir/urls"; do
        # A file that goes as it is read is not a fault; a directory that is gone is.
        { cat /dev/null "$servers"/*.url || true; } >"$dir/.urls-$me" || return
        mv "$dir/.urls-$me" "$dir/urls" || return
    done
}
enlist() {
    echo "$1" >"$servers/.$me"
    mv "$servers/.$me" "$servers/$me.url"
    publish
}
leave() {  # first no new work
    rm -f "$servers/$me.url"
    publish || true
    kill -TERM "$server" 2>/dev/null || true
}
signals=0
stop() {
    signals=$((signals + 1))
    leave
}

# Homes are shared, and slow: what was compiled, and which isolation works, is kept on the node.
if [ -z "${XDG_CACHE_HOME:-}" ]; then
    cache=${TMPDIR:-/tmp}/proctor-$(id -u)
    mkdir -m 700 "$cache" 2>/dev/null || true
    # Somebody else may have taken the name.
    { [ -O "$cache" ] && [ ! -L "$cache" ]; } || cache=$(mktemp -d "$cache-XXXXXX")
    export XDG_CACHE_HOME=$cache
fi

exec {said}< <(exec proctor serve --host 0.0.0.0 --port 0 --json --no-access-log \
    --cells "${SLURM_CPUS_PER_TASK:-1}" --token-file "$dir/tokens" "${@:2}")
server=$!
trap leave EXIT
trap stop TERM INT
if read -r url <&"$said"; then  # {"url":"http://0.0.0.0:PORT"}
    port=${url##*:}
    enlist "http://$(hostname):${port%%[!0-9]*}"
fi
until
    told=$signals status=0
    wait "$server" || status=$?
    [ "$told" = "$signals" ]  # else it was a signal that ended the waiting
do :; done
# Whose job ends well is not started again, unless it says so.
if scontrol show job "$SLURM_JOB_ID" | grep -q ' PreemptTime=[0-9]'; then
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$status"
