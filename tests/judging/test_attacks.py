"""Submissions that try to cheat, one file each in attacks/, and what they must get."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tasks import SECRET, Attack, attacks, problems

from proctor.judgement import Judgement
from proctor.judging.judge import judge
from proctor.sandbox.pool import Pool

ATTACKS = attacks()
COUNTED = "touch_memory"
"""The attack that only a control group can tell from a program that fails by itself."""
Judged = dict[str, Judgement]
Parameters = Callable[[str], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def places(
    tmp_path_factory: pytest.TempPathFactory, cache_directory: Path
) -> Iterator[dict[str, str]]:
    """Files that the attacks are after. The users of cells could read them, were it not for us."""
    answer = cache_directory / "answer.txt"
    answer.write_text(f'#define ANSWER "{SECRET}"\n')
    answer.chmod(0o644)
    checker = cache_directory / "checker"
    checker.write_bytes(b"#!/bin/sh\nexit 1\n")
    checker.chmod(0o777)
    headers = cache_directory / "headers"  # the one directory of ours that cells may read
    headers.mkdir(exist_ok=True)
    headers.chmod(0o777)  # so that it is the sandbox that they fail by
    yield {"ANSWER": str(answer), "CHECKER": str(checker), "CACHE": str(cache_directory)}
    assert checker.read_bytes() == b"#!/bin/sh\nexit 1\n"
    assert not [path for path in cache_directory.rglob("*") if "poison" in path.name]
    assert not [
        path
        for path in cache_directory.rglob("*")
        if path.is_file() and b"poison" in path.read_bytes()[-6:]
    ]
    headers.chmod(0o755)
    answer.unlink()
    checker.unlink()


def judge_all(chosen: list[dict[str, Any]], contest_pool: Pool, places: dict[str, str]) -> Judged:
    """Judge all that is looked at, four at once, hostile and honest side by side."""
    attacks = [each["attack"] for each in chosen]
    found = problems(Path(places["ANSWER"]))
    with ThreadPoolExecutor(4) as threads:
        return {
            attack.path.name: judged
            for attack, judged in zip(
                attacks,
                threads.map(
                    lambda each: judge(found[each.task], each.program(places), pool=contest_pool),
                    attacks,
                ),
                strict=True,
            )
        }


@pytest.fixture(scope="module")
def judgements(contest_pool: Pool, places: dict[str, str], parameters: Parameters) -> Judged:
    return judge_all(parameters("test_attack"), contest_pool, places)


@pytest.fixture(scope="module")
def at_landlock(landlock_pool: Pool, places: dict[str, str], parameters: Parameters) -> Judged:
    return judge_all(parameters("test_attack_at_landlock"), landlock_pool, places)


def check(attack: Attack, judged: Judgement) -> None:
    shown = f"{judged.verdict}: {judged.message}\n{judged.compiler_output}"
    assert judged.verdict.name in attack.verdicts, shown
    # Nobody who asks for why it failed is told what it was after.
    told = shown + "".join(result.message for result in judged.tests)
    assert SECRET not in told
    assert "root:" not in told


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(each, marks=pytest.mark.cgroup if each.path.stem == COUNTED else ())
        for each in ATTACKS
    ],
    ids=lambda each: each.path.stem,
)
def test_attack(attack: Attack, judgements: Judged) -> None:
    check(attack, judgements[attack.path.name])


@pytest.mark.sampled(6)
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda each: each.path.stem)
def test_attack_at_landlock(attack: Attack, at_landlock: Judged) -> None:
    check(attack, at_landlock[attack.path.name])
