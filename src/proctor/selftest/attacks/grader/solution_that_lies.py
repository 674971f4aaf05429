# title: A function-call problem: a Solution that answers to every name
# kind: judge
# must: not AC
# function: reveal
class Solution:
    def __getattr__(self, name):
        return self

    def __call__(self, *args, **kwargs):
        return self

    __eq__ = lambda self, other: True
    __hash__ = lambda self: 0
