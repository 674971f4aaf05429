# title: Owners and parents of its own namespaces, through a pidfd
# kind: run
# must: held
# needs: kernel
try:
    handle = call("pidfd_open", os.getpid(), 0)
except OSError:
    finish("no pidfd")
for kind in range(1, 11):
    space = libc.ioctl(handle, 0xFF00 | kind, 0)
    if space < 0:
        continue
    attempt("it could join its own namespace", call, "setns", space, 0)
    for request in (0xB701, 0xB702):  # NS_GET_USERNS, NS_GET_PARENT
        above = libc.ioctl(space, request, 0)
        if above >= 0:
            attempt("it could join a namespace above its own", call, "setns", above, 0)
finish()
