# title: Signals by rt_sigqueueinfo, pidfd and thread id
# kind: run
# must: held
# needs: signals
# harmless: yes
import signal

info = ctypes.create_string_buffer(128)
ctypes.c_int.from_buffer(info, 0).value = signal.SIGCONT
ctypes.c_int.from_buffer(info, 8).value = -1  # SI_QUEUE
victim = bait["victim"]
attempt("rt_sigqueueinfo", call, "rt_sigqueueinfo", victim, signal.SIGCONT, info)
attempt("rt_tgsigqueueinfo", call, "rt_tgsigqueueinfo", victim, victim, signal.SIGCONT, info)
attempt("tkill", call, "tkill", victim, signal.SIGCONT)
try:
    handle = call("pidfd_open", victim, 0)
except OSError:
    finish("no pidfd")
attempt("pidfd_send_signal", call, "pidfd_send_signal", handle, signal.SIGCONT, None, 0)
finish()
