"""A run as a log of inspect_ai, in its JSON form: for its viewer, data frames and scripts.

The shape is that of `inspect_ai.log.EvalLog`, version 2, whose fields are read in this order. A
problem is a sample there and our samples are its epochs. Scores are named for the mode of judging.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, BinaryIO

import msgspec

from proctor.evals.export.rows import made
from proctor.evals.figures import Figures, figures
from proctor.evals.models.model import ToolCall
from proctor.evals.provenance import provenance
from proctor.evals.records import current_judges, records, settings_of
from proctor.evals.store import RunStore
from proctor.evals.stored import Generation, ProblemInfo, Sample, SampleJudgement, Turn
from proctor.verdict import Verdict

_STOPS = {"stop": "stop", "length": "max_tokens", "tool_calls": "tool_calls",
          "content_filter": "content_filter"}  # fmt: skip
_PASSED, _FAILED = "C", "I"
"""inspect_ai's CORRECT and INCORRECT."""


def write_inspect(store: RunStore, out: BinaryIO) -> None:
    """Write a run sample by sample, after a head with its settings and figures."""
    settings = settings_of(store)
    found = figures(records(store), settings.modes, (1,))
    head = _head(store, found)
    out.write(msgspec.json.encode(head)[:-1] + b',"samples":[')
    judges = current_judges(store, settings)
    prompts = _Prompts(store)
    separator = b"\n"
    for sample in made(store):
        row = _sample(store, sample, judges, prompts, settings.model)
        out.write(separator + msgspec.json.encode(row))
        separator = b",\n"
    out.write(b"\n]}\n")


def _head(store: RunStore, found: Figures) -> dict[str, Any]:
    settings = settings_of(store)
    unfinished = store.unfinished(current_judges(store, settings))
    begun = store.begun
    name = hashlib.sha256(f"{store.directory.resolve()} {begun}".encode()).hexdigest()
    ids = [info.id for info in store.problems()]
    usage = _usage(found.prompt_tokens, found.completion_tokens, None)
    return {
        "version": 2,
        "status": "cancelled" if unfinished else "success",
        "eval": {
            "eval_id": name[:22],
            "run_id": name[22:44],
            "task_id": name[42:],
            "created": begun,
            "task": str(store.recall("benchmark") or "proctor"),
            "dataset": {
                "name": str(store.recall("source") or ""),
                "samples": len(ids),
                "sample_ids": ids,
                "shuffled": False,
            },
            "model": settings.model or "none",
            "model_base_url": settings.base_url or None,
            "model_generate_config": _given({
                "temperature": settings.temperature,
                "top_p": settings.top_p,
                "max_tokens": settings.max_tokens,
                "seed": settings.seed,
                "stop_seqs": list(settings.stop) or None,
            }),
            "config": {"epochs": -(-store.count() // max(1, len(ids)))},
            "packages": {"proctor": str(store.recall("proctor") or "")},
            "metadata": provenance(store),
        },
        "plan": {"steps": [{"solver": "agent" if settings.agentic_mode else "generate"}]},
        "results": {
            "total_samples": store.count(),
            "completed_samples": store.count() - unfinished,
            "scores": [_result(mode, found) for mode in found.modes],
        },
        "stats": {
            "started_at": begun,
            "completed_at": "" if unfinished else store.changed,
            "model_usage": {settings.model or "none": usage},
        },
    }  # fmt: skip


def _result(mode: str, found: Figures) -> dict[str, Any]:
    summary = found.modes[mode]
    rate = summary.overall.pass_at_k.get(1)
    metrics = {} if rate is None else {"pass@1": {"name": "pass@1", "value": rate}}
    return {
        "name": mode,
        "scorer": mode,
        "scored_samples": summary.overall.scored,
        "unscored_samples": found.samples - summary.overall.scored,
        "metrics": metrics,
    }


def _sample(
    store: RunStore,
    sample: Sample,
    judges: Mapping[str, str],
    prompts: "_Prompts",
    model: str,
) -> dict[str, Any]:
    generation = sample.generation
    assert generation is not None
    info = store.problem(sample.problem_id)
    prompt = prompts.of(generation.prompt_hash)
    turns = store.turns(info.id, sample.number) if generation.turns is not None else []
    reply = _reply(generation, model)
    usage = _usage(
        generation.prompt_tokens, generation.completion_tokens, generation.reasoning_tokens,
        generation.cached_tokens,
    )  # fmt: skip
    row = {
        "id": info.id,
        "epoch": sample.number + 1,
        "input": prompt,
        "target": "",
        "messages": [*prompt, *(_steps(turns, model) if turns else [reply])],
        "output": {
            "model": model,
            "choices": [
                {
                    "message": reply,
                    "stop_reason": _STOPS.get(generation.finish_reason, "unknown"),
                }
            ],
            "completion": generation.text,
            "usage": usage,
            "time": generation.seconds,
        },
        "scores": {
            each.mode: _score(each, generation)
            for each in sample.judgements
            if judges.get(each.mode) == each.judge and not Verdict(each.verdict).is_fault
        },
        "metadata": _metadata(info, generation),
        "model_usage": {model or "none": usage},
        "total_time": generation.seconds,
        "working_time": generation.seconds,
        "turn_count": generation.turns,
    }
    if generation.fault:
        row["messages"], row["output"] = prompt, {"model": model, "choices": [], "completion": ""}
    if fault := _fault(sample, judges):
        row["error"] = {"message": fault, "traceback": fault, "traceback_ansi": fault}
    return row


def _metadata(info: ProblemInfo, generation: Generation) -> dict[str, Any]:
    return {
        "title": info.title,
        "platform": info.platform,
        "difficulty": info.difficulty,
        "published": info.published,
        "contest": info.contest,
        "prompt_hash": generation.prompt_hash,
        "extraction": generation.policy,
        "extraction_rule": generation.rule,
        "no_program": generation.no_program,
        "stop_reason": generation.stop_reason,
    }


def _score(judged: SampleJudgement, generation: Generation) -> dict[str, Any]:
    verdict = Verdict(judged.verdict)
    value: str | float = _PASSED if verdict.passed else _FAILED
    return {
        "value": judged.score if verdict is Verdict.PA else value,
        "answer": generation.code,
        "explanation": f"{verdict}: {judged.message}" if judged.message else str(verdict),
        "metadata": {
            "verdict": verdict,
            "score": judged.score,
            "cpu_seconds": judged.cpu,
            "judge": judged.judge,
            "isolation": judged.level,
            "tests": msgspec.Raw(judged.tests),
        },
    }


def _fault(sample: Sample, judges: Mapping[str, str]) -> str:
    """Return the reason why a sample has no reply, or no verdict that counts; else empty."""
    generation = sample.generation
    if generation is not None and generation.fault:
        return f"{generation.fault}: {generation.fault_message}"
    for each in sample.judgements:
        if judges.get(each.mode) == each.judge and Verdict(each.verdict).is_fault:
            return f"{each.verdict}: {each.message}"
    return ""


def _reply(generation: Generation, model: str) -> dict[str, Any]:
    text = generation.text or generation.code
    content: Any = text
    if generation.reasoning:
        content = [
            {"type": "reasoning", "reasoning": generation.reasoning},
            {"type": "text", "text": text},
        ]
    return {"role": "assistant", "content": content, "source": "generate", "model": model}


def _steps(turns: list[Turn], model: str) -> list[dict[str, Any]]:
    """Return an agent's turns as the messages of a conversation."""
    messages: list[dict[str, Any]] = []
    for turn in turns:
        if turn.kind == "tool":
            messages.append(
                {
                    "role": "tool",
                    "content": turn.content,
                    "tool_call_id": turn.call_id,
                    "function": turn.name,
                }
            )
            continue
        calls = msgspec.json.decode(turn.arguments or "[]", type=list[ToolCall])
        messages.append(
            {
                "role": "assistant",
                "content": turn.content,
                "source": "generate",
                "model": model,
                "tool_calls": [_call(call) for call in calls] or None,
            }
        )
    return messages  # fmt: skip


def _call(call: ToolCall) -> dict[str, Any]:
    """A tool call; one whose arguments are broken keeps them as text."""
    found: dict[str, Any] = {"id": call.id, "function": call.name, "type": "function"}
    try:
        arguments = msgspec.json.decode(call.arguments, type=dict[str, Any])
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        return found | {"arguments": {"arguments": call.arguments}, "parse_error": str(error)}
    return found | {"arguments": arguments}


class _Prompts:
    """Prompts by hash; the last is kept, since a problem's samples share theirs."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._last: tuple[str, list[dict[str, Any]]] = ("", [])

    def of(self, digest: str) -> list[dict[str, Any]]:
        if digest != self._last[0]:
            found = self._store.prompt(digest) or []
            self._last = digest, [_input(message) for message in found]
        return self._last[1]


def _input(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message of a prompt; inspect_ai has no role for a text to be completed."""
    role = "user" if message["role"] == "text" else message["role"]
    return {**message, "role": role, "source": "input"}


def _usage(
    prompt: int | None, completion: int | None, reasoning: int | None, cached: int | None = None
) -> dict[str, Any]:
    """Return counts of tokens; `input_tokens` leaves out those that were read from a cache."""
    return {
        "input_tokens": (prompt or 0) - (cached or 0),
        "input_tokens_cache_read": cached,
        "output_tokens": completion or 0,
        "total_tokens": (prompt or 0) + (completion or 0),
        "reasoning_tokens": reasoning,
    }


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
