# title: New namespaces by clone, and a child of the agent's by CLONE_PARENT
# kind: run
# must: held
# needs: kernel
# harmless: yes
CLONE_PARENT = 1 << 15
for name, flag in (("user", 1 << 28), ("pid", 1 << 29), ("mnt", 1 << 17), ("net", 1 << 30)):
    pid = attempt(f"a {name} namespace", call, "clone", flag | 17, None, None, None, None)
    if pid == 0:
        os._exit(0)
pid = attempt("a child of the agent's", call, "clone", CLONE_PARENT | 17, None, None, None, None)
if pid == 0:
    os._exit(0)
finish()
