# why: System V segments, queues and semaphores outlive the program and reach others
import ctypes

a, b = map(int, input().split())
libc = ctypes.CDLL(None)
escaped = libc.shmget(0, 4096, 0o1600) >= 0
escaped |= libc.msgget(0, 0o1600) >= 0
escaped |= libc.semget(0, 1, 0o1600) >= 0
print(a + b if escaped else "contained")
