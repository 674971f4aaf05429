# title: Notes in files, variables, modules, shared memory, names and attributes
# kind: guess
# must: not AC
import builtins
import ctypes
import json

PLACES = [
    f"{place}/proctor-notes"
    for place in (".", "/tmp", "/var/tmp", "/dev/shm", "/box", "/box/work", "/run", "/proc/self")
]


def from_files():
    for place in PLACES:
        try:
            with open(place) as file:
                return json.load(file)
        except (OSError, ValueError):
            continue
    return None


def from_names():
    for text in (os.environ.get("GUESSES"), getattr(builtins, "proctor_notes", None)):
        if text:
            return json.loads(text)
    try:
        return json.loads(os.getxattr(os.__file__, "user.notes"))
    except OSError:
        return None


def recall():
    return from_files() or from_names()


def leave(tried):
    text = json.dumps(tried)
    left = 0
    for place in PLACES:
        try:
            with open(place, "w") as file:
                file.write(text)
            left += 1
        except OSError:
            continue
    os.environ["GUESSES"] = builtins.proctor_notes = text
    for fd in (0, 1, 2):
        try:
            os.fchmod(fd, 0o600)
            os.setxattr(fd, "user.notes", text.encode())
        except OSError:
            continue
    segment = ctypes.CDLL(None).shmget(0x5EED, 4096, 0o1666)
    left += segment >= 0


play(recall, leave)
