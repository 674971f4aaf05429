# What every attack of kind `run` and `pair` begins with: the bait's whereabouts, and few helpers.
import ctypes
import errno
import json
import os
import platform
import re
import sys

bait = json.loads(sys.stdin.readline())
libc = ctypes.CDLL(None, use_errno=True)
found = []  # what was got; empty when the box held
SECRET = re.compile(rb"proctor-bait-[0-9a-f]{32}")
PLANTED = re.compile(rb"proctor-planted-[0-9a-f]{32}")
_X86 = platform.machine() == "x86_64"

# System calls by name: x86-64, aarch64 (the number of both where there is one).
_NUMBERS = {
    "acct": (163, 89), "add_key": (248, 217), "bpf": (321, 280), "cachestat": (451,), "capset": (126, 91),
    "chroot": (161, 51), "clock_adjtime": (305, 266), "clone": (56, 220), "clone3": (435,),
    "delete_module": (176, 106), "fanotify_init": (300, 262), "file_setattr": (469,),
    "finit_module": (313, 273), "fsmount": (432,), "fsopen": (430,), "fspick": (433,),
    "futex": (202, 98), "futex_requeue": (456,), "futex_wait": (455,), "futex_waitv": (449,),
    "futex_wake": (454,),
    "get_robust_list": (274, 100), "inotify_add_watch": (254, 27), "inotify_init1": (294, 26),
    "io_setup": (206, 0), "io_uring_setup": (425,), "ioperm": (173, None), "iopl": (172, None),
    "ioprio_get": (252, 31), "ioprio_set": (251, 30), "kcmp": (312, 272),
    "kexec_load": (246, 104), "keyctl": (250, 219), "landlock_create_ruleset": (444,),
    "listmount": (458,), "listns": (470,), "lsm_get_self_attr": (459,),
    "lsm_list_modules": (461,), "lsm_set_self_attr": (460,), "mbind": (237, 235),
    "membarrier": (324, 283), "memfd_secret": (447,), "migrate_pages": (256, 238), "mincore": (27, 232),
    "modify_ldt": (154, None), "mount": (165, 40), "mount_setattr": (442,),
    "move_mount": (429,), "move_pages": (279, 239), "mq_open": (240, 180),
    "msgget": (68, 186), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "open_tree": (428,), "perf_event_open": (298, 241), "personality": (135, 92),
    "pidfd_getfd": (438,), "pidfd_open": (434,), "pidfd_send_signal": (424,),
    "pivot_root": (155, 41), "prlimit64": (302, 261), "process_madvise": (440,),
    "process_mrelease": (448,), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "ptrace": (101, 117), "quotactl": (179, 60),
    "reboot": (169, 142), "request_key": (249, 218), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274), "sched_setscheduler": (144, 119), "seccomp": (317, 277),
    "semget": (64, 190), "sethostname": (170, 161), "setns": (308, 268),
    "setpriority": (141, 140), "set_mempolicy": (238, 237), "settimeofday": (164, 170),
    "setxattrat": (463,), "shmat": (30, 196), "shmget": (29, 194), "statmount": (457,),
    "swapoff": (168, 225), "swapon": (167, 224), "syslog": (103, 116), "tgkill": (234, 131),
    "timer_create": (222, 107), "tkill": (200, 130), "umount2": (166, 39), "unshare": (272, 97),
    "uselib": (134, None), "userfaultfd": (323, 282), "vmsplice": (278, 75),
}  # fmt: skip


def call(name, *arguments):
    """Make a system call by name; return its result or raise OSError."""
    number = _NUMBERS[name][0 if _X86 or len(_NUMBERS[name]) == 1 else 1]
    if number is None:
        raise OSError(errno.ENOSYS, "no such call on this machine")
    return raw(number, *arguments)


def raw(number, *arguments):
    """Make a system call by number."""
    widened = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    libc.syscall.restype = ctypes.c_long
    result = libc.syscall(ctypes.c_long(number), *widened)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"system call {number}")
    return result


def attempt(what, action, *arguments):
    """Do something that must fail; note `what` if it works. Return what it returned."""
    try:
        result = action(*arguments)
    except (OSError, ValueError, OverflowError, AttributeError, ImportError):
        return None
    found.append(what)
    return result


def look(what, data):
    """Note `what` if the data holds a secret of the host's."""
    if SECRET.search(data):
        found.append(what)


def read(path, size=1 << 20):
    """Return the file's first bytes; none if it cannot be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(fd, size)
    except OSError:
        return b""
    finally:
        os.close(fd)


def say(word, text=""):
    """Write one line to stdout itself, whatever became of sys.stdout."""
    os.write(1, f"{word}: {text}\n".encode() if text else f"{word}\n".encode())


def finish(note=""):
    """Say what came of it, and end."""
    if found:
        say("through", ", ".join(dict.fromkeys(found))[:400])
    else:
        say("held", note)
    os._exit(0)


# ---- the attack itself ----
