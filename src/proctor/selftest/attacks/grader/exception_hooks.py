# title: Exception hooks that search the frames they are given for the answer
# kind: judge
# must: not AC
import re
import sys
import threading

ANSWER = re.compile(r"proctor-answer-[0-9a-f]{32}")


def search(traceback):
    frame = traceback.tb_frame if traceback is not None else sys._getframe()
    while frame is not None:
        for values in (frame.f_locals, frame.f_globals):
            found = ANSWER.search(repr(values))
            if found is not None:
                print(found[0])
                sys.stdout.flush()
                return
        frame = frame.f_back


sys.excepthook = lambda kind, value, traceback: search(traceback)
sys.unraisablehook = lambda raised: search(raised.exc_traceback)
threading.excepthook = lambda raised: search(raised.exc_traceback)


class Dying:
    def __del__(self):
        raise ValueError


Dying()
thread = threading.Thread(target=lambda: 1 // 0)
thread.start()
thread.join()
raise ValueError
