# title: Another user or group
# kind: run
# must: held
# needs: kernel
# harmless: yes
for number in {0, 1, 1000, 65533} - {os.getuid(), os.getgid()}:
    attempt(f"user {number}", os.setreuid, number, -1) if os.getuid() else None
    attempt(f"user {number}, effective", os.setreuid, -1, number)
    attempt(f"group {number}", os.setregid, -1, number)
attempt("further groups", os.setgroups, [0, 4, 6])
finish()
