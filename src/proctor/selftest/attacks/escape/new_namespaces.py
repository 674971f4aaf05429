# title: New namespaces by unshare, clone and clone3, and a child of the agent's by CLONE_PARENT
# kind: run
# must: held
# needs: kernel
# harmless: yes
FLAGS = {"user": 1 << 28, "mnt": 1 << 17, "pid": 1 << 29, "net": 1 << 30, "ipc": 1 << 27, "uts": 1 << 26,
         "cgroup": 1 << 25, "time": 1 << 7}
for name, flag in FLAGS.items():
    attempt(f"a {name} namespace", call, "unshare", flag)
CLONE_PARENT = 1 << 15
for name, flag in (("user", 1 << 28), ("pid", 1 << 29), ("mnt", 1 << 17), ("net", 1 << 30)):
    pid = attempt(f"a {name} namespace", call, "clone", flag | 17, None, None, None, None)
    if pid == 0:
        os._exit(0)
pid = attempt("a child of the agent's", call, "clone", CLONE_PARENT | 17, None, None, None, None)
if pid == 0:
    os._exit(0)
# clone3 hides its flags where no filter sees them.
arguments = (ctypes.c_uint64 * 11)(1 << 28, 0, 0, 0, 17)
pid = attempt("a user namespace", call, "clone3", arguments, 88)
if pid == 0:
    os._exit(0)
finish()
