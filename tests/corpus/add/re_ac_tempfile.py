# why: tempfile asks for the working directory, which upstream takes away; here it may just be refused
import tempfile

try:
    with tempfile.TemporaryFile() as f:
        f.write(b"scratch")
except OSError:
    pass
a, b = map(int, input().split())
print(a + b)
