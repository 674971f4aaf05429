# title: chroot and pivot_root, the classic ways out of a changed root
# kind: run
# must: held
# needs: kernel
# harmless: yes
attempt("chroot", call, "chroot", b"/")
attempt("chroot to an own directory", call, "chroot", b".")
attempt("pivot_root", call, "pivot_root", b".", b".")
finish()
