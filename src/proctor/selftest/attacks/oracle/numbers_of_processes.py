# title: How many processes there were in this cell before
# kind: pair
# must: held
# needs: processes
for _ in range(200):
    if os.fork() == 0:
        os._exit(0)
    os.wait()
finish()
# --- second ---
# A cell's own numbers begin anew with each program.
try:
    number = int(os.readlink("/proc/self"))
except OSError:
    number = os.getpid()
if number > 100:
    found.append(f"this is process {number}")
finish()
