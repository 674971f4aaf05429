"""The file format: what is read from it, and what is said of a bad one."""

import pytest

from proctor.errors import InputError
from proctor.execution import Execution, Guarantee, Isolation, LimitHit, Strength
from proctor.limits import MIB
from proctor.selftest.attack import GROUPS, LIMITS, SECOND, AttackKind, load, parse, said

HEAD = "# title: t\n# kind: run\n# must: held\n"
LEVEL = Isolation("namespaces", {"memory": Guarantee(Strength.FULL, "control group")})


def execution(stdout: bytes = b"", code: int | None = 0, **more: object) -> Execution:
    values = {
        "exit_code": code, "signal": None, "stdout": stdout, "stderr": b"", "cpu": 0.0,
        "wall": 0.0, "memory": 0, "queue": 0.0, "limit": None, "isolation": LEVEL,
    }  # fmt: skip
    return Execution(**(values | more))  # type: ignore[arg-type]


def read(text: str):
    return parse(text, "escape", "name", "attacks/escape/name.py")


def test_all_directives() -> None:
    attack = read(
        "# title: A title: with a colon\n# kind: judge\n# must: not AC\n"
        "# limits: cpu=0.5 wall=2 memory=64M output=8K processes=9 disk=1M stack=2M\n"
        "# modes: fast official\n# function: solve\n# source: printed\n# needs: memory cpu\n"
        "# alone: yes\n# harmless: yes\nprint(1)\n# not a directive any more\n"
    )
    assert attack.name == "escape/name"
    assert attack.title == "A title: with a colon"
    assert (attack.kind, attack.must, attack.must_text) == (AttackKind.JUDGE, None, "not AC")
    limits = attack.limits
    assert (limits.cpu, limits.wall, limits.processes) == (0.5, 2.0, 9)
    assert (limits.memory, limits.output, limits.disk) == (64 * MIB, 8192, MIB)
    assert limits.stack == 2 * MIB
    assert attack.modes == ("fast", "official")
    assert attack.function == "solve"
    assert attack.needs == ("memory", "cpu")
    assert (attack.printed, attack.alone, attack.harmless) == (True, True, True)
    assert attack.parts[0].endswith("any more\n")


def test_what_is_left_out() -> None:
    attack = read(HEAD + "print(1)\n")
    assert attack.limits == LIMITS
    assert attack.modes == ("standard", "fast", "official")
    assert (attack.function, attack.needs) == (None, ())
    assert (attack.printed, attack.alone, attack.harmless) == (False, False, False)


def test_a_pair_has_two_programs() -> None:
    attack = read(f"# title: t\n# kind: pair\n# must: held\nfirst\n{SECOND}\nsecond\n")
    first, second = attack.parts
    assert first.endswith("first")
    assert second == "second\n"


@pytest.mark.parametrize(
    ("text", "line", "said_"),
    [
        ("", 1, "directive 'title' is missing"),
        ("# title: t\n# must: held\n", 1, "directive 'kind' is missing"),
        ("# title: t\n# kind: run\n", 1, "directive 'must' is missing"),
        (HEAD + "# kind: run\n", 4, "directive 'kind' is there twice"),
        (HEAD + "# colour: red\n", 4, "unknown directive 'colour'; known: title, kind"),
        (HEAD + "#harmless: yes\n", 4, "a directive is written `# name: value`"),
        (HEAD + "# harmless: no\n", 4, "'no' is not a value for 'harmless'"),
        (HEAD + "# modes: fast\n", 4, "'modes' is for kind judge and guess only"),
        (HEAD + "# function: f\n", 4, "'function' is for kind judge only"),
        (HEAD + "# ways: door\n", 4, "'door' is not one of run, script, command, solver"),
        ("# title: t\n# kind: pair\n# must: held\n# ways: run\n", 4, "for kind run only"),
        ("# title: t\n# kind: run\n# must: signal\n# ways: run\n", 3, "must be 'held' here"),
        ("# title: t\n# kind: solve\n# must: any end\n", 3, "must be 'held' here"),
        (HEAD + "# needs: luck\n", 4, "'luck' is not one of filesystem, network"),
        (HEAD + "# limits: cpu=0\n", 4, "must be more than zero"),
        (HEAD + "# limits: cpu=1M\n", 4, "'cpu=1M': cpu is not a size"),
        (HEAD + "# limits: speed=1\n", 4, "'speed=1' is not a limit"),
        (HEAD + "# limits: memory=lots\n", 4, "'memory=lots' is not a limit"),
        ("# title: t\n# kind: run\n# must: hold\n", 3, "'hold' is not one of any end, exit"),
        ("# title: t\n# kind: run\n# must: limit luck\n", 3, "'limit luck' is not one of"),
        ("# title: t\n# kind: run\n# must: not AC\n", 3, "kinds judge and guess must be 'not AC'"),
        ("# title: t\n# kind: judge\n# must: held\n", 3, "kinds judge and guess must be 'not AC'"),
        ("# title: t\n# kind: pair\n# must: held\nx\n", None, "kind pair has 2 program(s), this"),
        (HEAD + f"x\n{SECOND}\ny\n", None, "kind run has 1 program(s), this file has 2"),
    ],
)
def test_a_bad_file_is_named_with_its_line(text: str, line: int | None, said_: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert said_ in str(caught.value)
    assert (caught.value.file, caught.value.line) == ("attacks/escape/name.py", line)


@pytest.mark.parametrize(
    ("must", "run", "met"),
    [
        ("held", execution(b"held\n"), True),
        ("held", execution(b"noise\nheld: because\n"), True),
        ("held", execution(b""), False),
        ("held", execution(b"withheld\n"), False),
        ("held", execution(b"held\n", 1), False),
        ("held", execution(b"held\nthrough: files\n"), False),
        ("held", execution(b"through\n"), False),
        ("limit cpu", execution(limit=LimitHit.CPU, code=None), True),
        ("limit cpu", execution(limit=LimitHit.MEMORY, code=None), False),
        ("limit cpu or limit memory", execution(limit=LimitHit.MEMORY, code=None), True),
        ("exit nonzero", execution(code=3), True),
        ("exit nonzero", execution(code=0), False),
        ("exit nonzero", execution(code=3, limit=LimitHit.CPU), False),
        ("signal", execution(code=None, signal=11), True),
        ("signal", execution(code=1), False),
        ("any end", execution(code=1), True),
        ("any end", execution(b"through: it\n"), False),
    ],
)
def test_what_meets_an_expectation(must: str, run: Execution, met: bool) -> None:
    attack = read(f"# title: t\n# kind: run\n# must: {must}\npass\n")
    assert attack.must is not None
    assert attack.must.met(run) is met


def test_the_last_word_counts() -> None:
    run = execution(b"held: first\nheld: second\n")
    assert said(run, "held") == "second"
    assert said(run, "through") is None


def test_the_shipped_attacks() -> None:
    attacks = load()
    assert len(attacks) >= 110
    assert len({attack.name for attack in attacks}) == len(attacks)
    assert {attack.group for attack in attacks} == set(GROUPS)
    for group in GROUPS:
        assert [a.name for a in attacks if a.group == group] == [a.name for a in load((), [group])]
    for attack in attacks:
        assert len(attack.title) <= 110, attack.name
        assert attack.must is not None or attack.kind in (AttackKind.JUDGE, AttackKind.GUESS)


def test_choosing_some() -> None:
    chosen = load(["kill_victim", "escape/ptrace"], [])
    assert [attack.name for attack in chosen] == ["escape/kill_victim", "escape/ptrace"]
    both = load(["kill_victim"], ["leakage"])
    assert both[0].name == "escape/kill_victim"
    assert len(both) == 1 + len(load((), ["leakage"]))


def test_choosing_what_is_not_there() -> None:
    with pytest.raises(InputError, match="there is no attack 'kill_bill'"):
        load(["kill_bill"])
    with pytest.raises(InputError, match="'escapes' is not one of escape, exhaustion"):
        load((), ["escapes"])
