# why: kill(-1) reaches every process one may signal; that must be the program's own only
import posix

posix.kill(-1, 9)
