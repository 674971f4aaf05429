"""Programs that use something up."""

MIB = 1 << 20
SPIN = "while True: pass\n"
ORPHANS = (
    "import os, time\n"
    "for _ in range(2):\n"
    "    if os.fork() == 0:\n"
    "        if os.fork() == 0:\n"
    "            while True: pass\n"
    "        os._exit(0)\n"
    "    os.wait()\n"
    "time.sleep(1000)\n"
)
SLEEP = "import time; time.sleep(1000)\n"


def touch(size: int) -> str:
    return f"data = bytearray({size})\nfor at in range(0, len(data), 4096): data[at] = 1\n"
