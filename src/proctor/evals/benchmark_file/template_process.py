"""Run as a program: evaluates a benchmark file's expressions and templates for `evaluation`.

A text that exceeds its bounds ends the process, which holds no secret: neither the host's
environment nor anything else but the texts and rows that it was asked about.
"""

import json
import signal
from typing import Any

import jinja2
import msgspec
from jinja2.meta import find_referenced_templates, find_undeclared_variables

from proctor.errors import InfraFault, InputError
from proctor.evals.benchmark_file.environment import PlainEnvironment
from proctor.evals.benchmark_file.evaluation import (
    CPU,
    FUNCTIONS_CPU,
    GROWTH,
    MEMORY,
    CompiledText,
    EvaluationStep,
    RunValues,
    allowed,
    most_answer,
)
from proctor.formats.plain_values import decode, encode
from proctor.languages.python_text import cpu_taken
from proctor.sandbox.helper import allow, serve

_UNUSABLE = (jinja2.TemplateError, RecursionError, ValueError, OverflowError, TypeError)
"""Errors that jinja2 raises for a text that it cannot compile."""
_LONGEST_SHOWN = 200
"""Characters of an expression that an error shows."""
_MOST_KEPT = 1000
_BATCH = 32 << 20
"""Bytes of an answer, after which other rows are left to the next request."""


class _Evaluator:
    """Compiles texts, keeps what it compiled, and evaluates it."""

    def __init__(self) -> None:
        self._environment = PlainEnvironment({}, self._check_functions)
        self._began = 0.0
        self._included: dict[str, str] = {}
        self._compiled: dict[tuple[str, bool], Any] = {}

    def answer(self, request: bytes) -> bytes:
        """Answer a request of `evaluation`, as JSON."""
        self._allow(len(request))
        asked = json.loads(request)
        if asked["included"] != self._included or len(self._compiled) > _MOST_KEPT:
            self._included, self._compiled = asked["included"], {}
            self._environment = PlainEnvironment(self._included, self._check_functions)
        if "text" in asked:
            return msgspec.json.encode(self._check(asked["text"], asked["is_template"]))
        steps = msgspec.convert(asked["steps"], list[EvaluationStep])
        rows: list[str] = []
        size = 0
        for names in asked["rows"]:
            self._allow(len(request))  # anew for each row
            rows.append(self._row(steps, names, most_answer(len(request))))
            size += len(rows[-1])
            if size > _BATCH:
                break
        return f"[{','.join(rows)}]".encode()

    def _allow(self, size: int) -> None:
        allow(allowed(size))
        self._began = cpu_taken()

    def _check_functions(self) -> None:
        """End the process if functions had others take more CPU time than they may."""
        if cpu_taken() - self._began > FUNCTIONS_CPU:
            signal.raise_signal(signal.SIGPROF)

    def _check(self, text: str, is_template: bool) -> CompiledText:
        """Compile a text, and return the names that it uses, or what is wrong with it."""
        try:
            tree = self._environment.parse(text if is_template else "{{ " + text + " }}")
            used = sorted(find_undeclared_variables(tree))
            includes = list(find_referenced_templates(tree))
            self._made(text, is_template)
        except _UNUSABLE as error:
            return CompiledText(error=_unusable(error, text, is_template))
        except MemoryError:
            return CompiledText(error=f"takes more than {MEMORY} bytes of memory")
        if None in includes:
            return CompiledText(error="is not a template: a file is included by its name in quotes")
        return CompiledText(used, [each for each in includes if each is not None])

    def _made(self, text: str, is_template: bool) -> Any:
        key = text, is_template
        if key not in self._compiled:
            environment = self._environment
            self._compiled[key] = (
                environment.from_string(text).render if is_template
                else environment.compile_expression(text, undefined_to_none=False)
            )  # fmt: skip
        return self._compiled[key]

    def _row(self, steps: list[EvaluationStep], given: dict[str, Any], most: int) -> str:
        """Return the steps' values for one row, as JSON: an object of objects."""
        names = {name: decode(value) for name, value in given.items()}
        run = names.get("run", {})
        found: list[str] = []
        for step in steps:
            names["run"] = RunValues(run, mode=step.mode) if step.mode else RunValues(run)
            text = '{"plain": null}'
            try:
                value = self._value(step, names)
                if step.keep:
                    text = encode(value)
                error = _failure("", bound=True) if len(text) > most else None
            except InfraFault:
                raise
            except Exception as failure:  # noqa: BLE001 - an expression may raise anything; it is told
                error = _failed(failure)
            if error is not None:
                text = json.dumps(error)
            found.append(f"{json.dumps(step.key)}:{text}")
            most -= len(text)
            if error is not None and (step.bind or step.ends):
                break
            if step.ends and not value:
                break
            if step.bind:
                names[step.bind] = value
        return "{" + ",".join(found) + "}"

    def _value(self, step: EvaluationStep, names: dict[str, Any]) -> Any:
        """Evaluate a text. Raises what it raises."""
        value = self._made(step.text, step.is_template)(names)
        if isinstance(value, jinja2.Undefined):
            str(value)  # raises an error that says what is missing
        return value.removesuffix("\n") if step.is_template else value


def _unusable(error: Exception, text: str, is_template: bool) -> str:
    if not is_template:
        return f"{text[:_LONGEST_SHOWN]!r} is not an expression: {error or type(error).__name__}"
    if isinstance(error, jinja2.TemplateSyntaxError):
        return f"is not a template: {error.message} (its line {error.lineno})"
    return f"is not a template: {error or type(error).__name__}"


def _failure(message: str, **more: bool) -> dict[str, Any]:
    return {"error": message, **more}


def _failed(error: Exception) -> dict[str, Any]:
    """Return an error as it is told; `lacks` for one that a text may raise for an empty reply."""
    if isinstance(error, MemoryError):
        return _failure("", bound=True)
    text = error.message if isinstance(error, InputError) else str(error)
    if isinstance(error, jinja2.UndefinedError):
        return _failure(text, undefined=True, lacks="has no element" in text)
    if not isinstance(error, jinja2.TemplateError | InputError):
        text = f"{type(error).__name__}: {text}"
    return _failure(text[:10_000], lacks=isinstance(error, InputError | IndexError))


def main() -> None:
    """Answer requests."""
    serve(_Evaluator().answer, CPU, MEMORY, GROWTH)


if __name__ == "__main__":
    main()
