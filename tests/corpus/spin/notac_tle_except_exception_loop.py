# why: a loop that swallows every exception runs upstream to the global limit
import itertools

for i in itertools.count():
    try:
        while True:
            i += 1
    except Exception:
        pass
