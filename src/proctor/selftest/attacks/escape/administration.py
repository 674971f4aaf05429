# title: What only an administrator may do: modules, swap, accounting, quota, restart, the log
# kind: run
# must: held
# needs: kernel
# harmless: yes
REFUSED = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ENODEV)


def permitted(what, name, *arguments):
    """All arguments are wrong on purpose: whoever is told so has passed the check of rights."""
    try:
        call(name, *arguments)
    except OSError as error:
        if error.errno in REFUSED:
            return
    found.append(what)


permitted("restart", "reboot", 1, 2, 3, None)
permitted("loading a module", "finit_module", -1, b"", 0)
permitted("unloading a module", "delete_module", b"proctor_none", 0)
permitted("loading a kernel", "kexec_load", 0, 99, None, 0)
permitted("swapping", "swapon", b"/proctor-none", 0)
permitted("accounting", "acct", b"/proctor-none")
permitted("reading the kernel's log", "syslog", 3, ctypes.create_string_buffer(64), 64)
permitted("watching all files", "fanotify_init", 0x1000000, 0)
permitted("clearing the terminal", "sethostname", b"", 99999)
finish()
