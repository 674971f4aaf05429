# title: An earlier program's data in this one's memory, freed memory included
# kind: pair
# must: held
# limits: cpu=4 memory=256M
text = bait["plant"]
kept = [f"{text} {n}" for n in range(2000)] + [text.encode() * 200]
print(text * 200)
sys.stderr.write(text * 200)
# --- second ---
try:
    mem = os.open("/proc/self/mem", os.O_RDONLY)
    with open("/proc/self/maps") as maps:
        ranges = re.findall(r"^(\w+)-(\w+) r", maps.read(), re.M)
    for low, high in ranges:
        try:
            part = os.pread(mem, min(int(high, 16) - int(low, 16), 1 << 26), int(low, 16))
        except (OSError, OverflowError):
            continue
        if PLANTED.search(part):
            found.append(f"in the mapping {low}")
except OSError:
    pass
libc.malloc.restype = ctypes.c_void_p
for size in list(range(64, 8192, 64)) * 8:
    if PLANTED.search(ctypes.string_at(libc.malloc(size), size)):
        found.append("in malloc's memory")
finish()
