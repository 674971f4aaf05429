"""A benchmark as a task of lm-eval 0.4.13, whose `api/task.py` has the contract.

lm-eval asks the model; prompts, extraction and grading are proctor's. A mode of grading is a filter
there, so that both stand in its table: `pass@1` by `official` and by `standard`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.metrics import mean
from lm_eval.api.task import Task, TaskConfig
from lm_eval.filters import build_filter_ensemble
from tqdm import tqdm

from proctor.errors import SettingsError
from proctor.evals.export.lm_eval_log import FAULTS, document, filtered, metric_names, metrics
from proctor.evals.models.model import plain
from proctor.integrations.grading import loop_thread
from proctor.integrations.prepared_benchmarks import (
    GradedReply,
    PromptRow,
    plain_options,
    prepare,
)

_LONGEST = 2048
"""Tokens of a reply unless `--gen_kwargs max_gen_toks=N` is given; lm-eval's own 256 are few."""


@dataclass(frozen=True, slots=True)
class JudgedResponse:
    """One reply as a mode's filter leaves it."""

    reply: GradedReply

    def __str__(self) -> str:
        graded = self.reply.graded
        return filtered(graded.verdict, graded.message, self.reply.code)


class BenchmarkTask(Task):
    """A benchmark, named by `benchmark` in the task's YAML, with the options under `settings`.

    Those of `--metadata '{"proctor": {...}}'` override them. The option `n` is lm-eval's `repeats`,
    and `file` a benchmark file for `benchmark: file`. Raises UsageError, PlatformError.
    """

    OUTPUT_TYPE = "generate_until"

    def __init__(self, config: Mapping[str, Any]) -> None:
        metadata = dict(config.get("metadata") or {})
        given = dict(config.get("settings") or {}) | dict(metadata.pop("proctor", None) or {})
        repeats = given.pop("n", config.get("repeats", 1))
        if type(repeats) is not int or repeats < 1:
            raise SettingsError(f"n, the samples of a problem, is at least 1, not {repeats!r}")
        file, name = given.pop("file", None), config.get("benchmark")
        if name == "file":
            if file is None:
                raise SettingsError('--metadata \'{"proctor": {"file": ...}}\' names the file')
            name = file
        if name is None:
            raise SettingsError(f"the YAML of {config['task']} names no `benchmark`")
        self._prepared = prepare(str(name), given)
        with self._prepared.open_grader():
            pass  # what is missing here is reported before a model is asked
        sampling = self._prepared.settings.sampling
        drawn = sampling.temperature is not None
        self._config = TaskConfig(
            task=config["task"],
            num_fewshot=0,
            repeats=repeats,
            generation_kwargs={
                "until": list(sampling.stop),
                "max_gen_toks": sampling.max_tokens or _LONGEST,
                "do_sample": drawn,
                "temperature": sampling.temperature if drawn else 0.0,
                **({} if sampling.top_p is None else {"top_p": sampling.top_p}),
                **(config.get("generation_kwargs") or {}),
            },
            metadata=metadata | {"proctor": {"benchmark": name, **plain_options(given)}},
        )
        self.VERSION = self._prepared.benchmark.version
        self._rows: list[PromptRow] | None = None
        self._instances: list[Instance] | None = None
        self._filters = [build_filter_ensemble("none", [["take_first", None]])]
        self._graded = True

    def has_training_docs(self) -> bool:
        return False

    def has_validation_docs(self) -> bool:
        return False

    def has_test_docs(self) -> bool:
        return True

    def test_docs(self) -> list[dict[str, Any]]:
        if self._rows is None:
            self._rows = list(self._prepared.rows())
        return [document(row.info, plain(row.messages)) for row in self._rows]

    def build_all_requests(self, *, apply_chat_template: bool = False, **rest: Any) -> None:
        """Build all requests with the benchmark's prompt for chats or for base models."""
        if not apply_chat_template:
            self._prepared, self._rows = self._prepared.as_base_model(), None
            until = self.config.generation_kwargs["until"] or self._prepared.settings.stop
            self.config.generation_kwargs["until"] = list(until)
        elif self._prepared.for_base_models:
            prompt = self._prepared.settings.prompt
            raise SettingsError(f"prompt {prompt} is a text: leave --apply_chat_template out")
        # The key of lm-eval's cache includes none of proctor's settings.
        rest |= {"cache_requests": False, "rewrite_requests_cache": False}
        super().build_all_requests(apply_chat_template=apply_chat_template, **rest)

    def fewshot_context(
        self,
        doc: Mapping[str, Any],
        *_rest: Any,
        system_instruction: str | None = None,
        apply_chat_template: bool = False,
        chat_template: Callable[..., Any] | None = None,
        **_others: Any,
    ) -> Any:
        """Return the prompt as the model takes it; there are no examples to add."""
        messages = list(map(dict, doc["messages"]))
        if system_instruction:
            if messages[0]["role"] == "system":
                system_instruction += "\n\n" + messages.pop(0)["content"]
            messages.insert(0, {"role": "system", "content": system_instruction})
        if apply_chat_template and chat_template is not None:
            return chat_template(messages)
        return "\n\n".join(message["content"] for message in messages)

    def doc_to_text(self, doc: Mapping[str, Any]) -> str:
        return "\n\n".join(message["content"] for message in doc["messages"])

    def doc_to_target(self, doc: Mapping[str, Any]) -> str:
        del doc  # tests are shown to nobody
        return ""

    def construct_requests(self, doc: Mapping[str, Any], ctx: Any, **rest: Any) -> Instance:
        for name in ("apply_chat_template", "chat_template"):
            rest.pop(name, None)
        arguments = (ctx, dict(self.config.generation_kwargs))
        return Instance("generate_until", doc, arguments, 0, **rest)

    def override_metric(self, metric_name: str) -> None:
        """Grade nothing, for --predict_only."""
        self._graded = False
        super().override_metric(metric_name)

    def apply_filters(self) -> list[Instance] | None:
        """Grade all replies, many at once, in cells of this machine."""
        if not self._graded:
            filtered: list[Instance] | None = super().apply_filters()
            return filtered
        instances = self._instances or []
        replies = {instance.doc["id"]: list(instance.resps) for instance in instances}
        total = sum(map(len, replies.values()))
        with self._prepared.open_grader() as grader, tqdm(total=total, desc="Judging") as bar:
            grading = self._prepared.grade_all(grader, replies, bar.update)
            graded = loop_thread.get().wait(grading)
        for instance in instances:
            for mode in self._prepared.settings.modes:
                found = graded[instance.doc["id"], mode]
                instance.filtered_resps[mode] = list(map(JudgedResponse, found))
        return instances

    def process_results(
        self, doc: Mapping[str, Any], results: Sequence[Sequence[JudgedResponse]]
    ) -> dict[str, float]:
        """Return pass@k, and the number of replies without a verdict, which count as not passed."""
        del doc
        return metrics([each.reply.graded.verdict for each in results[0]], self.config.repeats)

    def aggregation(self) -> dict[str, Callable[[Sequence[float]], float]]:
        return {name: sum if name == FAULTS else mean for name in metric_names(self.config.repeats)}

    def higher_is_better(self) -> dict[str, bool]:
        return metric_names(self.config.repeats)
