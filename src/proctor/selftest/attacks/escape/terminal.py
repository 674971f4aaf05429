# title: Typing into a terminal of the host's (TIOCSTI, TIOCLINUX), or writing to it
# kind: run
# must: held
# needs: filesystem
# harmless: yes
import fcntl

TIOCSTI, TIOCSCTTY, TIOCLINUX = 0x5412, 0x540E, 0x541C
for fd in range(64):
    attempt(f"TIOCSTI on {fd}", fcntl.ioctl, fd, TIOCSTI, b"#")
    attempt(f"TIOCLINUX on {fd}", fcntl.ioctl, fd, TIOCLINUX, b"\x03")
for path in ("/dev/tty", "/dev/console", "/dev/tty0", bait["terminal"], "/dev/pts/0"):
    if path is None:
        continue
    fd = attempt(f"{path} opened", os.open, path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    if fd is not None and path == bait["terminal"]:
        os.write(fd, b"#")
finish()
