# why: a coroutine that nobody awaits is no result
class Solution:
    async def add(self, a, b):
        return a + b
