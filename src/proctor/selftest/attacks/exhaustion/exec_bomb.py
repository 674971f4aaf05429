# title: A program that starts programs for ever
# kind: run
# must: limit cpu or limit wall or limit memory or limit processes
# limits: cpu=0.3 processes=24 wall=4
# needs: cpu
# alone: yes
import posix

while True:
    try:
        posix.posix_spawn("/bin/sh", ["sh", "-c", "while :; do :; done"], {})
    except OSError:
        pass
