# title: Files without a name, directories, devices, links and pipes
# kind: run
# must: held
# needs: filesystem
# harmless: yes
import stat

for place in ("/tmp", "/var/tmp", "/dev/shm", "/run", "/", bait["directory"], "."):
    path = f"{place}/{bait['leave']}"
    attempt(f"a nameless file in {place}", os.open, place, os.O_TMPFILE | os.O_RDWR, 0o600)
    if attempt(f"a directory in {place}", os.mkdir, path) is None and found[-1:] == [f"a directory in {place}"]:
        os.rmdir(path)
    for kind in (stat.S_IFBLK, stat.S_IFCHR, stat.S_IFIFO):
        before = len(found)
        attempt(f"a device or pipe in {place}", os.mknod, path, kind | 0o600, os.makedev(1, 3))
        if len(found) > before:
            os.unlink(path)
    for make in (os.symlink, os.link):
        before = len(found)
        attempt(f"a link in {place}", make, os.__file__, path)
        if len(found) > before:
            os.unlink(path)
finish()
