# title: Reading files of the host's
# kind: run
# must: held
# needs: filesystem
# harmless: yes
for path in bait["files"]:
    for prefix in ("", "/proc/self/root", "/proc/1/root", "/proc/self/cwd/../../../../..", "/dev/fd/../../../.."):
        look(f"{path} was read", read(prefix + path))
for path in ("/etc/shadow", "/etc/passwd", "/etc/hostname", "/root/.bashrc", "/proc/kcore", "/proc/1/environ",
             "/dev/kmsg", "/dev/mem", "/sys/kernel/notes", "/var/log/dpkg.log", "/proc/kallsyms"):
    if read(path, 16) and not path.startswith("/etc/p"):
        found.append(f"{path} was read")
finish()
