# why: one program must not reach another's grader
# upstream: AC (cheat, for the other sample) listener sockets in /tmp are connectable with the inherited authkey
import glob
import multiprocessing.connection as mc
import multiprocessing.process as mp
import os

key = bytes(mp.current_process().authkey)
for path in glob.glob("/tmp/pymp-*/listener-*"):
    try:
        with mc.Client(path, authkey=key) as client:
            client.send((None, "append", ([{}],), {}))
    except OSError:
        pass
os._exit(0)
