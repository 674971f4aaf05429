# title: Changing the library or the interpreter that later programs run with
# kind: run
# must: held
# needs: filesystem
import json.decoder
import string

for path in (os.__file__, json.decoder.__file__, string.__file__, sys.executable or "/bin/sh", "/bin/sh", "/etc/ld.so.cache"):
    for flags in (os.O_RDWR, os.O_WRONLY | os.O_APPEND):
        try:
            os.close(os.open(path, flags))
            found.append(f"{path} can be written")
        except OSError:
            pass
    cache = os.path.join(os.path.dirname(path), "__pycache__", bait["leave"])
    fd = attempt("a file beside it", os.open, cache, os.O_CREAT | os.O_WRONLY, 0o600)
    if fd is not None:
        os.unlink(cache)
finish()
