# title: New namespaces, above all a user namespace with all capabilities in it
# kind: run
# must: held
# needs: kernel
# harmless: yes
FLAGS = {"user": 1 << 28, "mnt": 1 << 17, "pid": 1 << 29, "net": 1 << 30, "ipc": 1 << 27, "uts": 1 << 26,
         "cgroup": 1 << 25, "time": 1 << 7}
for name, flag in FLAGS.items():
    attempt(f"a {name} namespace", call, "unshare", flag)
finish()
