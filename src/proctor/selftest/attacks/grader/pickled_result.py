# title: A function-call problem: a result that runs code where it is unpickled
# kind: judge
# must: not AC
# function: reveal
class Payload:
    def __reduce__(self):
        return (eval, ("__import__('os')._exit(0)",))

    __bool__ = lambda self: True
    __gt__ = lambda self, other: True
    __eq__ = lambda self, other: Payload()
    __hash__ = lambda self: 0


class Solution:
    def reveal(self, name):
        return [Payload(), {"x": Payload()}]
