# why: upstream makes `import resource` fail
import resource


class Solution:
    def add(self, a, b):
        return a + b + 0 * resource.RLIMIT_CPU
