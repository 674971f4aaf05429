# title: A solver's result and incumbents that would hold up whoever reads them, or fill its memory
# kind: solve
# must: held
import os
import socket

for name in ("inc_1.json", "inc_2.json"):
    os.mkfifo(name)
if os.fork() == 0:  # so that whoever opens it gets the end of a pipe that nobody writes to
    os.open("inc_1.json", os.O_RDWR)
    while True:
        pass
os.symlink("/dev/zero", "inc_3.json")
with open("inc_4.json", "wb") as file:
    os.truncate(file.fileno(), 200 << 20)
try:
    socket.socket(socket.AF_UNIX).bind("inc_5.json")
except OSError:
    pass
for number in range(6, 500):
    os.symlink(f"inc_{number + 1}.json", f"inc_{number}.json")
os.mkfifo("result.json")
