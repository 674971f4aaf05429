# title: Notes in the directory that a program is given which crashes for the want of one
# kind: guess
# must: not AC
import json

# Where nothing can be written to, this crashes, and the program may be judged again.
with open("probe", "w"):
    pass
NUMBER = os.stat("probe").st_ino


def recall():
    for place in (".", "..", "/tmp"):
        try:
            with open(f"{place}/notes") as file:
                return json.load(file)
        except (OSError, ValueError):
            continue
    # Numbers that only go up: of files, where they are counted for more than one directory.
    return [int(digit) for digit in str(NUMBER)[-10:]] if NUMBER > 10**10 else None


def leave(tried):
    with open("notes", "w") as file:
        json.dump(tried, file)
    os.link("notes", "again")


play(recall, leave)
