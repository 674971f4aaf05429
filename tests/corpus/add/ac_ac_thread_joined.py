# why: a joined thread's output counts in both modes
import threading

a, b = map(int, input().split())
thread = threading.Thread(target=lambda: print(a + b))
thread.start()
thread.join()
