# why: the stream upstream captures has no buffer
import sys

a, b = map(int, input().split())
sys.stdout.buffer.write(b"%d\n" % (a + b))
