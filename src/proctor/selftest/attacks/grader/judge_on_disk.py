# title: The judge's own files, found and searched
# kind: judge
# must: not AC
# limits: cpu=4
import os
import re
import sys

found = []
for top in ("/tmp", "/var/tmp", "/dev/shm", "/home", "/root", "/run", "/srv", "/opt", "/mnt", "/proctor", "/box", os.curdir):
    for number, (folder, _, names) in enumerate(os.walk(top)):
        for name in names[:100]:
            try:
                fd = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NONBLOCK)
                found += re.findall(rb"proctor-answer-[0-9a-f]{32}", os.read(fd, 1 << 18))
                os.close(fd)
            except OSError:
                pass
        if number > 300:
            break
print(found[0].decode() if found else "nothing found")
