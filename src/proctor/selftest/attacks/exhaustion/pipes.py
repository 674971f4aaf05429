# title: Memory in pipes
# kind: run
# must: held or limit memory
# needs: memory
import fcntl

held_bytes, pipes = 0, []
try:
    while True:
        r, w = os.pipe()
        pipes.append((r, w))
        os.set_blocking(w, False)
        try:
            fcntl.fcntl(w, 1031, 1 << 20)  # F_SETPIPE_SZ
        except OSError:
            pass
        try:
            while True:
                held_bytes += os.write(w, b"x" * 65536)
        except BlockingIOError:
            pass
except OSError:
    pass
if held_bytes > 128 << 20:
    found.append(f"{held_bytes >> 20} MiB")
finish(f"{held_bytes >> 20} MiB in {len(pipes)} pipes")
