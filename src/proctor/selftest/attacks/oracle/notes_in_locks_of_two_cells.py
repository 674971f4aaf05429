# title: Notes as locks on files that all cells see, handed on while programs overlap
# kind: guess
# must: not AC
import fcntl
import struct

LOCK = struct.Struct("hhqqi4x")
BUSY = 5000
files = [os.open("/dev/null", os.O_RDWR), os.open(os.__file__, os.O_RDONLY)]


def locked(fd, start, length):
    asked = LOCK.pack(fcntl.F_WRLCK, 0, start, length, 0)
    try:
        kind, _, at, _, _ = LOCK.unpack(fcntl.fcntl(fd, fcntl.F_OFD_GETLK, asked))
    except OSError:
        return None
    return None if kind == fcntl.F_UNLCK else at


def hold(start):
    for fd in files:
        try:
            lock = LOCK.pack(fcntl.F_RDLCK, 0, start, 1, 0)
            fcntl.fcntl(fd, fcntl.F_OFD_SETLK, lock)
        except OSError:
            continue


def read():
    tried, at = [-1] * TESTS, 0
    for fd in files:
        at = 0
        while at < 100 * TESTS:
            found = locked(fd, at, 100 * TESTS - at)
            if found is None:
                break
            at = max(found, at)
            test, value = divmod(at, 100)
            tried[test] = max(tried[test], value)
            at += 1
    return tried


def keep(tried):
    for test, value in enumerate(tried):
        for each in range(value + 1):
            hold(100 * test + each)


def others_guess():
    return any(locked(fd, BUSY, 1) is not None for fd in files)


def relay():
    # Somebody guesses: hold the notes for as long as it takes until somebody else holds them.
    for _ in range(20):
        keep(read())
        time.sleep(0.01)
    print("relayed")
    sys.exit()


if others_guess():
    relay()
hold(BUSY)
play(read, keep, linger=0.05)
