# title: Memory spread over children, none of which has much
# kind: run
# must: limit memory or limit processes
# needs: memory
# limits: processes=16 wall=6
import time

for _ in range(8):
    if os.fork() == 0:
        block = bytearray(b"x") * (24 << 20)
        time.sleep(1)
        os._exit(0)
died = [os.WIFSIGNALED(os.wait()[1]) for _ in range(8)]
if not any(died):
    found.append("192 MiB")
finish()
