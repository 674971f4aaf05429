# title: A function-call problem: ending with success before the function returns
# kind: judge
# must: not AC
# function: reveal
import os


class Solution:
    def reveal(self, name):
        os.write(1, b'"AC"\n')
        os._exit(0)
