# title: Files in places that usually can be written
# kind: run
# must: held
# needs: filesystem
# harmless: yes
places = ["/tmp", "/var/tmp", "/dev/shm", "/run", "/run/lock", "/", "/home", "/root", "/etc", "/dev", "/dev/mqueue",
          "/var/log", "/mnt", bait["directory"], os.path.expanduser("~"), "/proc/self", "/sys/fs/cgroup", "."]
for place in places:
    path = f"{place}/{bait['leave']}"
    fd = attempt(f"a file in {place}", os.open, path, os.O_CREAT | os.O_RDWR, 0o600)
    if fd is not None:
        os.close(fd)
        os.unlink(path)
finish()
