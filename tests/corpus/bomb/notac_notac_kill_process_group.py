# why: a signal to the own group must stay in the box
import posix

posix.kill(0, 9)
