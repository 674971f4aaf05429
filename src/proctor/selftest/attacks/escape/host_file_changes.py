# title: Mode, owner, times, attributes and content of a host's file of the same user
# kind: run
# must: held
# needs: filesystem
# harmless: yes
for path in bait["files"]:
    attempt(f"mode of {path}", os.chmod, path, 0o777)
    attempt(f"owner of {path}", os.chown, path, os.getuid(), os.getgid())
    attempt(f"times of {path}", os.utime, path, (1, 1))
    attempt(f"attributes of {path}", os.setxattr, path, "user.left", b"x")
    attempt(f"flags of {path}", call, "file_setattr", -100, path.encode(), (ctypes.c_uint64 * 4)(), 24, 0)
    attempt(f"length of {path}", os.truncate, path, 3)
    fd = attempt(f"content of {path}", os.open, path, os.O_WRONLY | os.O_APPEND)
    if fd is not None:
        os.write(fd, b"x")
    attempt(f"name of {path}", os.rename, path, path + ".moved")
    attempt(f"removal of {path}", os.unlink, path)
finish()
