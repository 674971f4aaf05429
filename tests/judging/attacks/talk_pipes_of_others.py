# Tries: to read what the other process was sent from any pipe it can open by name.
# Task: separate. Must get: WA.
import os
import select
import sys

sys.stdin.readline()
if sys.argv[1] == "1":
    for process in ["self", *range(1, 300)]:
        for number in range(20):
            try:
                descriptor = os.open(f"/proc/{process}/fd/{number}", os.O_RDONLY | os.O_NONBLOCK)
                if select.select([descriptor], [], [], 0.0)[0]:
                    found = os.read(descriptor, 1000)
                    if b"proctor-secret" in found:
                        sys.stdout.buffer.write(found)
            except OSError:
                continue
print("nothing")
