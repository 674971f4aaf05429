# why: a function-call program is loaded as a module, so its main guard is dead code
class Solution:
    def add(self, a, b):
        return a + b


if __name__ == "__main__":
    print(Solution().add(*map(int, input().split())))
    raise SystemExit(1)
