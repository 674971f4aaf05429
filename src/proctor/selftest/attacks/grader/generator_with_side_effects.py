# title: A function-call problem: a generator that acts while the judge reads it
# kind: judge
# must: not AC
# function: reveal
import os


class Solution:
    def reveal(self, name):
        def results():
            for fd in range(256):
                try:
                    os.write(fd, b'"AC"\n')
                except OSError:
                    pass
            yield name
            os._exit(0)

        return results()
