# title: The kernel's log and addresses, and counters that tell what others do
# kind: run
# must: held
# needs: kernel
# harmless: yes
attempt("the kernel's log", call, "syslog", 3, ctypes.create_string_buffer(256), 256)
for path in ("/dev/kmsg", "/proc/kallsyms", "/proc/kcore", "/proc/modules", "/sys/kernel/debug", "/proc/config.gz", "/boot"):
    text = read(path, 4096)
    if text and not re.fullmatch(rb"(0{16} .*\n?)+.*", text, re.S):
        found.append(path)
finish()
