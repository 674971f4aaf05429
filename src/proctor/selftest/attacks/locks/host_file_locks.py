# title: Locks and leases on a host's file, which others would wait for
# kind: run
# must: held
# needs: filesystem
# harmless: yes
import fcntl

for path in bait["files"]:
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        continue
    attempt(f"a lock on {path}", fcntl.flock, fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    attempt(f"a read lock on {path}", fcntl.lockf, fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    attempt(f"a lease on {path}", fcntl.fcntl, fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
finish()
