# title: Signals to a process of the same user
# kind: run
# must: held
# needs: signals
# harmless: yes
import signal

for number in (0, signal.SIGCONT, signal.SIGWINCH):
    attempt("a signal reached the host's process", os.kill, bait["victim"], number)
    attempt("a signal reached its process group", os.kill, -bait["victim"], number)
    attempt("tgkill reached it", call, "tgkill", bait["victim"], bait["victim"], number)
finish()
