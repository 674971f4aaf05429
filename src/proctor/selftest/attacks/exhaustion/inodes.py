# title: Files without content, which fill a disk as well
# kind: run
# must: held or limit memory or limit disk
# limits: disk=2M cpu=4
made = 0
try:
    while made < 50_000:
        os.close(os.open(f"{bait['leave']}-{made}", os.O_CREAT | os.O_WRONLY, 0o600))
        made += 1
except OSError:
    pass
if made > 20_000:
    found.append(f"{made} files")
finish(f"{made} files were made, then no more")
