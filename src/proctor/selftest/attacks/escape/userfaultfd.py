# title: userfaultfd, which stops the kernel at a moment of the attacker's choice
# kind: run
# must: held
# needs: kernel
# harmless: yes
attempt("in user mode", call, "userfaultfd", 1)
attempt("in all modes", call, "userfaultfd", 0)
finish()
