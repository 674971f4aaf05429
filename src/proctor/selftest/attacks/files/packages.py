# title: Problem packages of each format that want the host's files, time or memory
# kind: host
# must: held
# harmless: yes
import os
import shutil

from proctor.formats.packages.package import load

MAIN = ("problem.toml", "problem.yaml", "problem.json", "task.yaml", "problem.xml", "init.yml")
CONTENTS = {
    "brackets in one another": b"[" * 200_000,
    "objects in one another": b'{"a":' * 100_000,
    "dashes in one another": b"- " * 100_000,
    "keys in one another": b"a" + b".a" * 50_000 + b"=1",
    "elements in one another": b"<a>" * 300_000,
    "a number of many digits": b"a: " + b"9" * 100_000,
    "aliases that double": b"a0: &a0 [x]\n" + b"".join(b"a%d: &a%d [*a%d,*a%d]\n" % (n, n, n - 1, n - 1) for n in range(1, 40)),
    "entities that double": b'<!DOCTYPE p [<!ENTITY a0 "x">' + b"".join(b'<!ENTITY a%d "&a%d;&a%d;">' % (n, n - 1, n - 1) for n in range(1, 40)) + b"]><problem>&a39;</problem>",
    "an entity of the host's": b'<!DOCTYPE p [<!ENTITY a SYSTEM "file:///etc/passwd">]><problem>&a;</problem>',
    "code": b"!!python/object/apply:os.abort []",
    "no text": b"\xff\xfe\0\xe9" * 100,
    "34 million characters": b"#" + b"x" * (34 << 20),
}
for number, main in enumerate(MAIN):
    package = HERE / str(number)
    package.mkdir()
    for what, data in CONTENTS.items():
        (package / main).write_bytes(data)
        refused(f"{main} with {what}", load, package)
    (package / main).unlink()
    for what, make in {
        "a pipe": os.mkfifo, "a directory": os.mkdir, "a link to a device": lambda at: os.symlink("/dev/zero", at),
        "a link to the host's passwords": lambda at: os.symlink("/etc/passwd", at),
        "a link to itself": lambda at: os.symlink(main, at),
        "a terabyte": lambda at: (at.touch(), os.truncate(at, 1 << 40)),
    }.items():
        make(package / main)
        try:
            load(package)
            found.append(f"{main} as {what} was loaded")
        except Exception as error:
            refused(f"{main} as {what}", load, package)
            if "root:" in str(error):
                found.append(f"{main} as {what} shows the host's file")
        if (package / main).is_dir() and not (package / main).is_symlink():
            (package / main).rmdir()
        else:
            (package / main).unlink()
shutil.rmtree(HERE / "0")
finish()
