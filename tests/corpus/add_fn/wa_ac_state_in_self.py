# why: upstream builds one Solution and calls it for every test
class Solution:
    def __init__(self):
        self.acc = 0

    def add(self, a, b):
        self.acc += a + b
        return self.acc
