# title: More descriptors than allowed
# kind: run
# must: held
count = 0
try:
    while count < 1 << 20:
        os.dup(0)
        count += 1
except OSError:
    pass
if count > 4096:
    found.append(f"{count} descriptors")
finish(f"{count} were had, then no more")
