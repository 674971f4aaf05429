# why: upstream takes subprocess.Popen away, so even deriving from it fails
import subprocess


class Quiet(subprocess.Popen):
    pass


a, b = map(int, input().split())
print(a + b)
