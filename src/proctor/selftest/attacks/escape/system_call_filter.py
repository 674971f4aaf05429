# title: Running under no filter of system calls
# kind: run
# must: held
# needs: kernel
# harmless: yes
PR_GET_SECCOMP = 21
if libc.prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 0:
    found.append("there is no filter")
finish()
