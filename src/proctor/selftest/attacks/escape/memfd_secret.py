# title: Memory that not even the kernel can look at
# kind: run
# must: held
# needs: kernel
# harmless: yes
fd = attempt("memfd_secret", call, "memfd_secret", 0)
finish()
