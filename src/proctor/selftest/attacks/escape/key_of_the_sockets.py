# title: Sockets by whatever the filter could let pass for others
# kind: run
# must: held
# needs: network
# harmless: yes
import itertools

# A program may be given sockets, and who opens them must get past the same filter: by something in
# the arguments that the kernel does not read. So try those, and look for it in what was inherited.
NUMBER = 41 if _X86 else 198
KEYS = {0, 1, 0xFFFFFFFF}
JUMP, LOAD = b"\x15\x00\x00\x05", b"\x20\x00\x00\x00\x1c\x00\x00\x00"
try:
    memory = os.open("/proc/self/mem", os.O_RDONLY)
except OSError:
    memory = -1
for line in read("/proc/self/maps", 1 << 20).decode("utf-8", "replace").splitlines():
    span, mode, *_rest = line.split()
    low, high = (int(end, 16) for end in span.split("-"))
    if mode.startswith("rw") and high - low < 64 << 20:
        try:
            data = os.pread(memory, high - low, low)
        except OSError:  # gone meanwhile
            continue
        at = data.find(JUMP)
        while at >= 0:
            if data[at + 8 : at + 16] == LOAD:
                found.append("the filter's text")
            at = data.find(JUMP, at + 1)
for number in range(3, 64):
    try:
        data = os.pread(number, 64, 0)
    except OSError:
        continue
    KEYS |= {int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data) - 3, 4)}
for keys in itertools.product(sorted(KEYS)[:8], repeat=3):
    for domain in (2, 10):
        arguments = [part << 32 | low for part, low in zip(keys, (domain, 1, 0))]
        attempt("a socket", raw, NUMBER, *[ctypes.c_ulong(each) for each in arguments])
finish()
