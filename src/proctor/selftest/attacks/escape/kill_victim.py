# title: Signals to a process of the same user, by every call that sends one
# kind: run
# must: held
# needs: signals
# harmless: yes
import signal

victim = bait["victim"]
for number in (0, signal.SIGCONT, signal.SIGWINCH):
    attempt("a signal reached the host's process", os.kill, victim, number)
    attempt("a signal reached its process group", os.kill, -victim, number)
    attempt("tgkill reached it", call, "tgkill", bait["victim"], victim, number)
info = ctypes.create_string_buffer(128)
ctypes.c_int.from_buffer(info, 0).value = signal.SIGCONT
ctypes.c_int.from_buffer(info, 8).value = -1  # SI_QUEUE
attempt("rt_sigqueueinfo", call, "rt_sigqueueinfo", victim, signal.SIGCONT, info)
attempt("rt_tgsigqueueinfo", call, "rt_tgsigqueueinfo", victim, victim, signal.SIGCONT, info)
attempt("tkill", call, "tkill", victim, signal.SIGCONT)
try:
    handle = call("pidfd_open", victim, 0)
except OSError:
    finish()
attempt("pidfd_send_signal", call, "pidfd_send_signal", handle, signal.SIGCONT, None, 0)
finish()
