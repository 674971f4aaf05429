# why: an exception in a thread prints a traceback; output and exit code are still right
import threading

a, b = map(int, input().split())
thread = threading.Thread(target=lambda: 1 // 0)
thread.start()
thread.join()
print(a + b)
