# title: Another user of the machine, who reads, locks or replaces what proctor keeps
# kind: host
# must: held
# harmless: yes
import fcntl
import os
import subprocess
import sys

if os.geteuid() != 0:
    leave_out("only root can act as another user")
os.umask(0o022)
HERE.chmod(0o755)
(HERE / "problems.jsonl").write_text('{"question_id": "a", "public_test_cases": [{"input": "1", "output": "1"}]}\n')
(HERE / "programs.jsonl").write_text('{"question_id": "a", "code_list": ["print(input())"]}\n')
(HERE / "b.toml").write_text(
    'name = "b"\n[rows]\nfile = "rows.jsonl"\nid = "id"\nstatement = "q"\n[prompt]\nuser = "{{ q }}"\n'
    '[grading]\nkind = "stdio"\ntests = "tests"\n'
)
(HERE / "rows.jsonl").write_text('{"id": "a", "q": "x", "tests": [{"input": "1", "output": "2"}]}\n')
(HERE / "replies.jsonl").write_text('{"question_id": "a", "generation": "```python\\nprint(2)\\n```"}\n')
GIVEN = {path.name for path in HERE.iterdir()}
NEIGHBOUR = 65534


def proctor(*arguments):
    ended = subprocess.run(
        [sys.executable, "-m", "proctor", *arguments], capture_output=True, check=False, timeout=60
    )
    if ended.returncode:
        found.append(f"{arguments[0]} failed: {ended.stderr.decode('utf-8', 'replace')[-200:]}")


EVAL = ("eval", "./b.toml", "--model", "replay:replies.jsonl", "--out", "run")
JUDGE = ("judge", "--problems", "problems.jsonl", "--programs", "programs.jsonl", "--out", "results.jsonl")
proctor(*EVAL)
proctor(*JUDGE, "--cache", "verdicts")
PUBLIC = ("results.jsonl", ".cache/proctor/headers")  # what the user named, and what cells may read
kept = [path for path in sorted(HERE.rglob("*")) if path.relative_to(HERE).parts[0] not in GIVEN]
if len([path for path in kept if path.is_file()]) < 5:
    found.append(f"nothing was kept: {kept}")
told, tells = os.pipe()
goes_on, ends = os.pipe()
if (neighbour := os.fork()) == 0:
    os.setgroups([])
    os.setresgid(NEIGHBOUR, NEIGHBOUR, NEIGHBOUR)
    os.setresuid(NEIGHBOUR, NEIGHBOUR, NEIGHBOUR)
    os.close(ends)
    held = []
    for path in kept:
        shown = str(path.relative_to(HERE))
        for flags in (os.O_RDONLY, os.O_WRONLY):
            try:
                fd = os.open(path, flags)
            except OSError:
                continue
            held.append(fd)
            if flags == os.O_WRONLY or (path.is_file() and not shown.startswith(PUBLIC)):
                os.write(tells, f"{'write to' if flags else 'read'} {shown}\n".encode())
            for lock in (fcntl.flock, fcntl.lockf):
                try:
                    lock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    pass
    os.close(tells)
    os.read(goes_on, 1)  # with all locks held, until the host's side has ended
    os._exit(0)
os.close(tells)
with open(told, encoding="utf-8") as lines:
    found.extend(line.strip() for line in lines)
proctor("resume", "run")
proctor("rejudge", "run")
proctor(*JUDGE, "--cache", "verdicts")
os.close(ends)
os.waitpid(neighbour, 0)
finish()
