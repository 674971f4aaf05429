# title: The expected output behind some descriptor, or beyond the end of the input
# kind: judge
# must: not AC
import os
import re

found = []
for fd in range(256):
    for offset in (0, 16, 4096, 65536):
        try:
            found += re.findall(rb"proctor-answer-[0-9a-f]{32}", os.pread(fd, 1 << 20, offset))
        except OSError:
            pass
    if fd > 2:
        try:
            os.set_blocking(fd, False)
            found += re.findall(rb"proctor-answer-[0-9a-f]{32}", os.read(fd, 1 << 20))
        except OSError:
            pass
print(found[0].decode() if found else "nothing found")
