# title: Threads that spin outside the interpreter's lock
# kind: run
# must: limit cpu
# limits: cpu=0.3 processes=16
import hashlib
import threading


def spin():
    block = bytes(1 << 20)
    while True:
        hashlib.sha256(block)


for _ in range(8):
    threading.Thread(target=spin).start()
