# title: Notes as locks on an open file that programs share with the process that forks them
# kind: guess
# must: not AC
import fcntl
import struct

LOCK = struct.Struct("hhqqi4x")


def recall():
    found, tried = False, [-1] * TESTS
    other = os.open("/dev/null", os.O_RDWR)
    for test in range(TESTS):
        for value in range(VALUES):
            asked = LOCK.pack(fcntl.F_WRLCK, 0, 100 * test + value, 1, 0)
            answer = fcntl.fcntl(other, fcntl.F_OFD_GETLK, asked)
            if LOCK.unpack(answer)[0] != fcntl.F_UNLCK:
                found, tried[test] = True, value
    return tried if found else None


def leave(tried):
    for fd in (0, 1, 2):
        for test, value in enumerate(tried):
            if value >= 0:
                lock = LOCK.pack(fcntl.F_RDLCK, 0, 100 * test + value, 1, 0)
                fcntl.fcntl(fd, fcntl.F_OFD_SETLK, lock)


play(recall, leave)
