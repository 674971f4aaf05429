print(333, flush=True)
raise RuntimeError(input())
