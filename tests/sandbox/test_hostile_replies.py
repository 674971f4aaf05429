"""Programs that share a process with what reports on them (fast path, official mode) write
whatever they like on its socket. They get a verdict, nobody gets an exception, the cell goes on.
"""

import pytest

from proctor import Judgement, JudgeSettings, Limits, Pool, Problem, Test, judge
from proctor.cell.wire import Reply, Tag

pytestmark = pytest.mark.user

TESTS = (Test("1 2\n", "3\n"), Test("3 4\n", "7\n"))
PROBLEM = Problem("sums", TESTS)
HONEST = "print(sum(map(int, input().split())))\n"
WRONG = "print(-1)\n"
LIMITS = Limits(cpu=0.3, memory=256 << 20)

# Sends to every socket it can find.
SEND = (
    "import os, socket\n"
    "def tell(message, *fds):\n"
    "    for number in range(3, 20):\n"
    "        try: s = socket.socket(fileno=os.dup(number))\n"
    "        except OSError: continue\n"
    "        try: socket.send_fds(s, [message], list(fds)) if fds else s.send(message)\n"
    "        except OSError: pass\n"
)
MESSAGES = {
    "thousands of digits": bytes([Tag.RETURNED]) + b"9" * 5000,
    "a long number": bytes([Tag.RETURNED]) + b"0" * 60_000,
    "digits that are none": Reply(Tag.RETURNED, "²³").encode(),
    "other digits": Reply(Tag.RETURNED, "٣").encode(),
    "a minus": bytes([Tag.RETURNED]) + b"-1",
    "success": bytes([Tag.RETURNED]) + b"0",
    "success without a status": bytes([Tag.RETURNED]),
    "another output": bytes([Tag.OUTPUT]) + b"-1\n",
    "no output": bytes([Tag.OUTPUT]),
    "an exception": bytes([Tag.RAISED]) + b"\xff\xfe" * 100,
    "a time-out": Reply(Tag.RAISED, "TimeoutException()").encode(),
    "a huge exception": bytes([Tag.RAISED]) + b"x" * 65_000,
    "unloadable": bytes([Tag.UNLOADABLE]) + b"sorry",
    "ready": bytes([Tag.READY]),
    "an end": Reply(Tag.ENDED, "", 0, float("nan"), float("inf"), 2**64 - 1).encode(),
    "half an end": bytes([Tag.ENDED]) + b"x",
    "no tag": b"\0",
    "a wrong tag": b"\xff" * 10,
    "nothing": b"",
    "a kill": b"K",
    "a test": b"T",
}
SHARED = [
    JudgeSettings(limits=LIMITS, fast=True),
    JudgeSettings("official", limits=LIMITS),
]


def program(before: str, message: bytes, after: str) -> str:
    return f"{SEND}{before}tell({message!r})\n{after}"


def checked(judgement: Judgement) -> Judgement:
    assert not judgement.verdict.is_fault, judgement
    assert 0 <= judgement.score <= 1
    return judgement


@pytest.mark.parametrize("settings", SHARED, ids=lambda s: s.mode)
@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES.keys())
def test_forged_messages_never_pass_and_harm_nobody(
    message: bytes, settings: JudgeSettings, cell_pool: Pool
) -> None:
    """The answers are wrong, so no message may make them right."""
    for source in (
        program("", message, WRONG),
        program(WRONG, message, "os._exit(0)\n"),
    ):
        judgement = checked(judge(PROBLEM, source, settings=settings, pool=cell_pool))
        assert not judgement.passed, judgement
    honest = judge(PROBLEM, HONEST, settings=settings, pool=cell_pool)
    assert honest.passed, honest


def test_forged_messages_do_not_spoil_a_right_answer_given_alone(cell_pool: Pool) -> None:
    """In standard mode there is no socket to write to."""
    settings = JudgeSettings(limits=LIMITS)
    for message in MESSAGES.values():
        source = program("", message, HONEST)
        assert judge(PROBLEM, source, settings=settings, pool=cell_pool).passed


@pytest.mark.parametrize("settings", SHARED, ids=lambda s: s.mode)
def test_descriptors_sent_to_the_host_do_not_stay_there(
    settings: JudgeSettings, cell_pool: Pool
) -> None:
    import os

    source = SEND + "r, w = os.pipe()\ntell(b'\\x04', *[r, w] * 20)\n" + WRONG
    checked(judge(PROBLEM, source, settings=settings, pool=cell_pool))
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        checked(judge(PROBLEM, source, settings=settings, pool=cell_pool))
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.slow("reads all-standard")
@pytest.mark.parametrize("settings", SHARED, ids=lambda s: s.mode)
@pytest.mark.parametrize(
    "attack",
    [
        "for n in range(3, 20):\n    try: os.close(n)\n    except OSError: pass\n",
        "for n in range(3, 20):\n    try: socket.socket(fileno=n).shutdown(2)\n    except OSError: pass\n",
        "while True: tell(b'\\x04' + b'0' * 1000)\n",
        "if os.fork() == 0:\n    while True: tell(b'\\x04' + b'0')\n",
        "for n in range(3, 20):\n    try:\n        while True: os.read(n, 1 << 16)\n    except OSError: pass\n",
        "if os.fork() == 0: os.setsid(); os.kill(os.getppid(), 9)\nwhile True: pass\n",
    ],
    ids=["closes", "shuts down", "floods", "floods from a child", "reads all", "orphans"],
)
def test_attacks_on_the_socket_end_with_a_verdict(
    attack: str, settings: JudgeSettings, cell_pool: Pool
) -> None:
    attacked = judge(PROBLEM, SEND + attack + WRONG, settings=settings, pool=cell_pool)
    assert not checked(attacked).passed
    assert judge(PROBLEM, HONEST, settings=settings, pool=cell_pool).passed
