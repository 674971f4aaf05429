"""Outcomes of an interaction, by how each party ended."""

from types import SimpleNamespace
from typing import cast

import pytest

from proctor.execution import Execution, Isolation, LimitHit
from proctor.judging.checkers import Opinion
from proctor.judging.interaction import Contact, decide
from proctor.limits import Limits
from proctor.sandbox.command import Finished
from proctor.verdict import Verdict

RUN = SimpleNamespace(out_of_memory=(), processes=0)
BUILT = SimpleNamespace(found=SimpleNamespace(language=SimpleNamespace(run=RUN)))
CONTACT = cast("Contact", SimpleNamespace(submission=BUILT, limits=Limits()))


def ended(how: str) -> Finished:
    """`AC`, `RE` or `ILE`; with a star, after the other end of its pipe had been closed."""
    verdict = how.rstrip("*")
    code = {"AC": 0, "RE": 1, "ILE": None}[verdict]
    limit = LimitHit.IDLE if verdict == "ILE" else None
    signal = 9 if limit else None
    execution = Execution(code, signal, b"", b"", 0.1, 0.1, 1, 0.0, limit, Isolation("none", {}))
    return Finished(execution, {}, hung_up=how.endswith("*"))


@pytest.mark.parametrize(
    ("users", "partner", "opinion", "verdict"),
    [
        ("AC*", "AC", Verdict.AC, Verdict.AC), ("AC*", "AC", Verdict.PA, Verdict.PA),
        # Who fails while the partner is there has failed, whatever the partner says.
        ("RE", "AC", Verdict.WA, Verdict.RE), ("RE", "AC", Verdict.AC, Verdict.RE),
        ("ILE", "AC", Verdict.WA, Verdict.ILE), ("AC* RE", "AC", Verdict.WA, Verdict.RE),
        # Afterwards only who was accepted, or in part, must not.
        ("RE*", "AC", Verdict.WA, Verdict.WA), ("RE*", "AC", Verdict.AC, Verdict.RE),
        ("RE*", "AC", Verdict.PA, Verdict.RE), ("AC* RE*", "AC", Verdict.PA, Verdict.RE),
        # A partner that hangs explains why somebody was idle, but no crash.
        ("RE ILE", "ILE", Verdict.TASK_FAULT, Verdict.RE), ("RE", "ILE", Verdict.TASK_FAULT, Verdict.RE),
        ("ILE RE", "ILE", Verdict.TASK_FAULT, Verdict.ILE),
    ],
)  # fmt: skip
def test_who_decides(users: str, partner: str, opinion: Verdict, verdict: Verdict) -> None:
    score = {Verdict.AC: 1.0, Verdict.PA: 0.5}.get(opinion, 0.0)
    parties = [ended(each) for each in users.split()]
    assert decide(CONTACT, parties, ended(partner), Opinion(opinion, score)).verdict is verdict
