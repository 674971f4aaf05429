# title: Taking mounts away, to see what lies below
# kind: run
# must: held
# needs: kernel
for place in (b"/proc", b"/tmp", b"/dev", b"/usr", b"/"):
    attempt(f"{place.decode()} was unmounted", call, "umount2", place, 2)
finish()
