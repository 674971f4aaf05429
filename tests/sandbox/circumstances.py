"""Start a command as it would find itself elsewhere: in a container, without privileges, ...

Run as root: `circumstances.py NAME[,NAME...] COMMAND...`. What it changes, it changes for the
command alone. Standard library only, for any Python.
"""

import ctypes
import os
import struct
import sys

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 24, 38, 22
CAP_KILL, CAP_SYS_ADMIN = 5, 21
# What Docker and Kubernetes leave to root: chown, dac_override, fowner, fsetid, kill, setgid,
# setuid, setpcap, net_bind_service, net_raw, sys_chroot, mknod, audit_write, setfcap.
CONTAINER_CAPABILITIES = {0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31}
ALL_CAPABILITIES = set(range(41))
ANONYMOUS = 65534

libc = ctypes.CDLL(None, use_errno=True)


def check(result, what):
    if result:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def mount(source, target, kind, flags, options=""):
    done = libc.mount(
        source.encode(), target.encode(), kind.encode() if kind else None, ctypes.c_ulong(flags),
        options.encode(),
    )  # fmt: skip
    check(done, f"mount on {target}")


def private_mounts():
    check(libc.unshare(CLONE_NEWNS), "unshare")
    mount("none", "/", None, MS_REC | MS_PRIVATE)


def mask_proc():
    """As container engines do: then nobody below may mount a /proc that shows more."""
    for path in ("/proc/kcore", "/proc/keys", "/proc/timer_list"):
        if os.path.exists(path):
            mount("/dev/null", path, None, MS_BIND)
    mount("/proc/sys", "/proc/sys", None, MS_BIND | MS_REC)
    mount("none", "/proc/sys", None, MS_BIND | MS_REMOUNT | MS_RDONLY)


def hide_cgroups():
    mount("none", "/sys/fs/cgroup", "tmpfs", MS_RDONLY)


def keep_capabilities(kept):
    for number in sorted(ALL_CAPABILITIES - kept):
        libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)
    mask = held("CapPrm") & sum(1 << number for number in kept)
    low, high = mask & 0xFFFFFFFF, mask >> 32
    header = struct.pack("Ii", 0x20080522, 0)
    data = struct.pack("6I", low, low, 0, high, high, 0)
    check(libc.capset(header, data), "capset")


def forbid_user_namespaces(also=()):
    """By a system call filter, which lasts only as long as this process and its children."""
    x86 = os.uname().machine == "x86_64"
    clone, unshare, clone3 = (56, 272, 435) if x86 else (220, 97, 435)
    load, jump_equal, jump_set, ret = 0x20, 0x15, 0x45, 0x06
    allow, eperm, enosys = 0x7FFF0000, 0x00050001, 0x00050026
    code = [(load, 0, 0, 0)]
    for number in also:
        code += [(jump_equal, 0, 1, number), (ret, 0, 0, eperm)]
    code += [
        (jump_equal, 0, 1, clone3), (ret, 0, 0, enosys),
        (jump_equal, 1, 0, clone), (jump_equal, 0, 3, unshare),
        (load, 0, 0, 16),
        (jump_set, 0, 1, CLONE_NEWUSER), (ret, 0, 0, eperm),
        (ret, 0, 0, allow),
    ]  # fmt: skip
    packed = b"".join(struct.pack("HBBI", *each) for each in code)
    buffer = ctypes.create_string_buffer(packed)
    program = struct.pack("H6xQ", len(code), ctypes.addressof(buffer))
    if not held("CapEff") >> CAP_SYS_ADMIN & 1:
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    check(libc.prctl(PR_SET_SECCOMP, 2, program, 0, 0), "seccomp")


def container_filter():
    """What Docker's default profile refuses without CAP_SYS_ADMIN, as far as it matters here."""
    x86 = os.uname().machine == "x86_64"
    mount_, umount2, setns, unshare = (165, 166, 308, 272) if x86 else (40, 39, 268, 97)
    pivot_root, keyctl, bpf = (155, 250, 321) if x86 else (41, 219, 280)
    forbid_user_namespaces([mount_, umount2, setns, unshare, pivot_root, keyctl, bpf])


def forbid_landlock():
    """As on kernels that were built or booted without it."""
    landlock_create_ruleset = 444
    forbid_user_namespaces([landlock_create_ruleset])


def held(which):
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith(which))
    return int(line.split()[1], 16)


def main(names, command):
    if {"masked-proc", "no-cgroup", "container"} & names:
        private_mounts()
    if {"masked-proc", "container"} & names:
        mask_proc()
    if {"no-cgroup", "container"} & names:
        hide_cgroups()
    if "no-user-namespaces" in names:
        forbid_user_namespaces()
    if "no-landlock" in names:
        forbid_landlock()
    if "container" in names:
        container_filter()
        keep_capabilities(CONTAINER_CAPABILITIES)
    if "no-kill" in names:
        keep_capabilities(CONTAINER_CAPABILITIES - {CAP_KILL})
    if "no-sys-admin" in names:
        keep_capabilities(ALL_CAPABILITIES - {CAP_SYS_ADMIN})
    if "no-capabilities" in names:
        keep_capabilities(set())
    if "user" in names:
        os.setgroups([])
        os.setresgid(ANONYMOUS, ANONYMOUS, ANONYMOUS)
        os.setresuid(ANONYMOUS, ANONYMOUS, ANONYMOUS)
    os.chdir("/")
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(set(sys.argv[1].split(",")) - {"as-is"}, sys.argv[2:])
