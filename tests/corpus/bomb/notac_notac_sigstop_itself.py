# why: a stopped program does nothing for ever (takes as long as the idle allowance)
import posix
import signal

posix.kill(posix.getpid(), signal.SIGSTOP)
