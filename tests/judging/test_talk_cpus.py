"""Each interaction runs on one CPU, and a new one on that with the fewest others."""

import pytest

from proctor.judging.conversation import TalkCpus
from proctor.sandbox.machine import cpus


def test_a_new_one_gets_the_cpu_with_the_fewest_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpus, "usable", lambda: [2, 5, 7])
    talks = TalkCpus()
    assert [talks.take() for _ in range(4)] == [2, 5, 7, 2]
    talks.leave(5)
    assert [talks.take(), talks.take()] == [5, 5]
    talks.leave(7)
    assert talks.take() == 7


def test_there_is_no_choice_where_the_system_names_no_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpus, "usable", list)
    talks = TalkCpus()
    assert talks.take() == -1
    talks.leave(-1)
    assert talks.take() == -1
