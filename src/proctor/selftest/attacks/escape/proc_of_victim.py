# title: What /proc tells of a process of the same user: environment, arguments, files
# kind: run
# must: held
# needs: processes
# harmless: yes
victim, marker = bait["victim"], os.path.basename(bait["files"][0])
for name in ("environ", "cmdline", f"fd/{bait['descriptor']}", f"cwd/{marker}", f"root/{bait['files'][0]}"):
    look(f"{name} was read", read(f"/proc/{victim}/{name}"))
for name in ("stat", "status", "maps", "io", "auxv", "mountinfo", "limits", "syscall", "wchan", "stack"):
    if read(f"/proc/{victim}/{name}"):
        found.append(f"{name} was read")
attempt("descriptors were listed", os.listdir, f"/proc/{victim}/fd")
finish()
