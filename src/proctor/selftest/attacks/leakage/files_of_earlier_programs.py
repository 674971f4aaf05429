# title: An earlier program's files, in every place it could write to
# kind: pair
# must: held
# limits: disk=1M
PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/", "/dev", "/dev/mqueue", os.path.expanduser("~"), ".", "/box/work", "/box")
for place in PLACES:
    for name in ("left-behind", bait["leave"]):
        try:
            with open(f"{place}/{name}", "w") as file:
                file.write(bait["plant"])
        except OSError:
            pass
# --- second ---
PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/", "/dev", "/dev/mqueue", os.path.expanduser("~"), ".", "/box/work", "/box")
for place in PLACES:
    for name in ("left-behind", bait["leave"]):
        if os.path.exists(f"{place}/{name}"):
            found.append(f"{place}/{name}")
try:
    names = os.listdir(".")
    found += [f"./{name}" for name in names if "left" in name]
except OSError:
    pass
finish()
