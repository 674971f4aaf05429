"""Run one program that nobody vouches for, and look at the facts."""

import proctor

PROGRAM = """
import socket, sys
print("got", sys.stdin.read().strip())
try:
    socket.create_connection(("example.org", 80))
except OSError as error:
    print("no network:", error)
try:
    open("/etc/passwd")
except OSError as error:
    print("no such file:", error)
sys.stdout.flush()  # a program that is stopped has no chance to
while True:
    pass
"""

execution = proctor.run(PROGRAM, "hello\n", limits=proctor.Limits(cpu=0.5))

print(execution.stdout.decode(), end="")
print(f"stopped at the {execution.limit} limit after {execution.cpu:.2f} s of CPU time")
for guarantee, mechanism in execution.isolation.guarantees.items():
    print(f"  {guarantee}: {mechanism}")
