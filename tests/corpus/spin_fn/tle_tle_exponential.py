# why: right, but exponential
class Solution:
    def add(self, a, b):
        def fib(n):
            return n if n < 2 else fib(n - 1) + fib(n - 2)

        return fib(60) * 0 + a + b
