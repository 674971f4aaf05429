# title: Priority of another process of the same user
# kind: run
# must: held
# needs: processes
# harmless: yes
victim = bait["victim"]
attempt("setpriority", call, "setpriority", 0, victim, 19)
attempt("setpriority of its group", call, "setpriority", 1, victim, 19)
attempt("ioprio_set", call, "ioprio_set", 1, victim, 3 << 13)
finish()
