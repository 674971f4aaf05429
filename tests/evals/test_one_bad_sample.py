"""Whatever goes wrong with one sample of a run is that sample's fault, and the others are judged."""

import json
from pathlib import Path
from typing import Any

import pytest
from answers import right_reply
from command import problem, write_rows
from proctor_command import Proctor
from stub import Call, completion, serving

from proctor.evals.extraction import Extracted
from proctor.evals.livecodebench import generation as benchmark
from proctor.evals.livecodebench.generation import CodeGeneration
from proctor.evals.store import RunStore
from proctor.evals.stored import Generation
from proctor.problem import Problem
from proctor.verdict import Verdict

ODD = "Ferry Queue"
"""Title of the bundled problem that goes wrong; three others do not."""
HALF = chr(0xD800)


def evaluated(proctor: Proctor, run: Path, url: str, *more: str) -> tuple[int, dict[str, Any]]:
    done = proctor("eval", "livecodebench", "--model", "stub", "--base-url", url, "--out", run,
                   "--mode", "standard", "--json", *more)  # fmt: skip
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    again = proctor("resume", run, "--json")
    assert json.loads(again.stdout)["standard"]["verdicts"] == found["standard"]["verdicts"]
    return done.returncode, found


def is_odd(call: Call) -> bool:
    return f"# {ODD}\n" in call.body["messages"][-1]["content"]


def right(call: Call) -> str:
    return right_reply(call.body["messages"][-1]["content"])


def of_odd(run: Path) -> tuple[Generation, list[str]]:
    with RunStore.open(run) as store:
        for sample in store.samples():
            if store.problem(sample.problem_id).title == ODD:
                assert sample.generation is not None
                return sample.generation, [each.verdict for each in sample.judgements]
    raise AssertionError


def test_half_a_character_in_a_reply(proctor: Proctor, tmp_path: Path) -> None:
    """As servers send it whose model's last token is half an emoji."""

    def answer(call: Call) -> None:
        call.reply(f"{HALF} {right(call)} {HALF}" if is_odd(call) else right(call))

    with serving(answer) as stub:
        code, found = evaluated(proctor, tmp_path / "run", stub.url)
    assert (code, found["standard"]["verdicts"]) == (0, {"AC": 4})
    generation, _ = of_odd(tmp_path / "run")
    assert (generation.text[:6], generation.fault) == (r"\ud800", "")


@pytest.mark.slow
def test_half_a_character_in_a_program(proctor: Proctor, tmp_path: Path) -> None:
    """It does not compile, on resume as at first, and upstream says so too."""

    def answer(call: Call) -> None:
        call.reply(f"```python\n'{HALF}'\n```" if is_odd(call) else right(call))

    with serving(answer) as stub:
        code, found = evaluated(proctor, tmp_path / "run", stub.url)
    assert (code, found["standard"]["verdicts"]) == (0, {"AC": 3, "CE": 1})
    again = proctor("rejudge", tmp_path / "run", "--json")
    assert json.loads(again.stdout)["standard"]["verdicts"] == {"AC": 3, "CE": 1}


def test_token_counts_that_no_store_holds(proctor: Proctor, tmp_path: Path) -> None:
    def answer(call: Call) -> None:
        body: dict[str, Any] = completion(right(call))
        if is_odd(call):
            body["usage"] |= {"prompt_tokens": 10**30, "completion_tokens": -1}
        call.send(json.dumps(body).encode())

    with serving(answer) as stub:
        code, found = evaluated(proctor, tmp_path / "run", stub.url)
    assert (code, found["standard"]["verdicts"]) == (0, {"AC": 4})
    generation, _ = of_odd(tmp_path / "run")
    assert (generation.prompt_tokens, generation.completion_tokens) == (None, None)


def test_a_reply_that_no_program_can_be_taken_from(
    proctor: Proctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extract = CodeGeneration.extract

    def failing(self: CodeGeneration, instance: Problem, text: str, settings: Any) -> Extracted:
        if text == "odd":
            raise RuntimeError("the parser fell over")
        return extract(self, instance, text, settings)

    monkeypatch.setattr(CodeGeneration, "extract", failing)
    with serving(lambda call: call.reply("odd" if is_odd(call) else right(call))) as stub:
        code, found = evaluated(proctor, tmp_path / "run", stub.url)
    assert (code, found["standard"]["verdicts"]) == (125, {"AC": 3, "INFRA_FAULT": 1})
    generation, verdicts = of_odd(tmp_path / "run")
    assert (generation.text, generation.fault, verdicts) == ("odd", "infra-fault", [])
    assert "the parser fell over" in generation.fault_message


def test_several_replies_in_one_request(
    proctor: Proctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a character in one of them, and another that no program can be taken from."""
    extract = CodeGeneration.extract

    def failing(self: CodeGeneration, instance: Problem, text: str, settings: Any) -> Extracted:
        if text == "odd":
            raise ZeroDivisionError
        return extract(self, instance, text, settings)

    def answer(call: Call) -> None:
        body: dict[str, Any] = completion("")
        texts = [right(call), HALF + right(call), "odd"]
        body["choices"] = [{"index": index, "message": {"role": "assistant", "content": text}}
                           for index, text in enumerate(texts)]  # fmt: skip
        call.send(json.dumps(body).encode())

    monkeypatch.setattr(CodeGeneration, "extract", failing)
    with serving(answer) as stub:
        code, found = evaluated(proctor, tmp_path / "run", stub.url, "--n", "3", "--request-n", "3",
                                "--limit", "1")  # fmt: skip
    assert (code, found["standard"]["verdicts"]) == (125, {"AC": 2, "INFRA_FAULT": 1})


def test_a_prompt_that_cannot_be_made(
    proctor: Proctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = CodeGeneration.messages

    def failing(self: CodeGeneration, instance: Any, sample: int, settings: Any) -> Any:
        if instance.title == ODD:
            raise KeyError("a template without its field")
        return messages(self, instance, sample, settings)

    monkeypatch.setattr(CodeGeneration, "messages", failing)
    with serving(lambda call: call.reply(right(call))) as stub:
        code, found = evaluated(proctor, tmp_path / "run", stub.url)
    assert (code, found["standard"]["verdicts"]) == (125, {"AC": 3, "INFRA_FAULT": 1})
    generation, _ = of_odd(tmp_path / "run")
    assert generation.fault == "infra-fault"


def test_a_grade_that_fails(
    proctor: Proctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an INFRA_FAULT, without a score, and `retry` has it graded again."""
    grade = benchmark.TestsGrader.grade

    async def failing(self: benchmark.TestsGrader, instance: Any, code: str, mode: str) -> Any:
        if instance.title == ODD:
            raise OSError("no more descriptors")
        return await grade(self, instance, code, mode)

    with serving(lambda call: call.reply(right(call))) as stub:
        with monkeypatch.context() as patch:
            patch.setattr(benchmark.TestsGrader, "grade", failing)
            code, found = evaluated(proctor, tmp_path / "run", stub.url)
        assert (code, found["standard"]["verdicts"]) == (125, {"AC": 3, "INFRA_FAULT": 1})
        assert found["standard"]["scored"] == 3
        assert of_odd(tmp_path / "run")[1] == [Verdict.INFRA_FAULT]
        mended = proctor("retry", tmp_path / "run", "--json", env={"OPENAI_API_KEY": "x"})
    assert json.loads(mended.stdout)["standard"]["verdicts"] == {"AC": 4}


def test_half_a_character_in_a_row(proctor: Proctor, tmp_path: Path) -> None:
    """Of a problem, it is told before anything is begun: where, and of what."""
    rows = [problem("a", [("1\n", "1\n")]), problem("b", [("1\n", "1\n")], question_content=HALF)]
    problems = write_rows(tmp_path / "problems.jsonl", rows)
    replay = write_rows(tmp_path / "replay.jsonl", [
        {"question_id": name, "code": "print(input())"} for name in ("a", "b")
    ])  # fmt: skip
    done = proctor("eval", "livecodebench", "--source", problems, "--model", f"replay:{replay}",
                   "--out", tmp_path / "run", "--json")  # fmt: skip
    assert done.returncode == 2
    assert "problem 'b' has half a surrogate pair" in done.stderr
