"""Settings of an evaluation: the fields of its configuration file and of its record."""

import hashlib
from dataclasses import replace
from typing import Any, Literal, cast

import msgspec

from proctor.errors import SettingsError
from proctor.evals import extraction as extractions
from proctor.evals.agent import Budgets, Channel
from proctor.evals.models.model import Sampling
from proctor.evals.models.request_options import (
    check_extra_body,
    check_headers,
    check_secrets,
)
from proctor.judging.settings import JudgeSettings, Mode, default_limits
from proctor.version import __version__

Modes = Literal["official", "standard", "both"]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of a run. Times in seconds, memory in bytes. Holds no secret.

    Raises SettingsError for impossible values.
    """

    model: str = ""
    """Name at the server, or `replay:FILE`."""
    base_url: str = ""
    """Address of the server; empty for OpenAI's."""
    source: str = "fixture"
    earlier: str = ""
    """Directory of the run that this one goes on from, for self-repair."""
    platforms: str = ""
    difficulties: str = ""
    min_release_date: str = ""
    max_release_date: str = ""
    years: str = ""
    """Years of the IOI, such as `2023,2024`; empty for all."""
    all_subtasks: bool = False
    """True to judge a program of the IOI on all subtasks, not only the one it was made for."""
    medals: str = ""
    """File of medal thresholds of the IOI."""
    limit: str = ""
    sample_id: tuple[str, ...] = ()
    n: int | None = None
    """Samples of a problem; None for 1, or all of a recording."""
    request_n: int = 1
    """Samples that one request asks for at most."""
    batch: str = ""
    """Provider that gets all requests in batches; empty to send them one by one."""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    top_k: int | None = None
    min_p: float | None = None
    reasoning_effort: str | None = None
    chat_template: dict[str, Any] = {}
    """Switches of the model's chat template."""
    extra_body: dict[str, Any] = {}
    """Further fields of each request's body."""
    headers: dict[str, str] = {}
    """Headers of each request; `$NAME` stands for a variable of the environment."""
    preset: str = ""
    """Name of the preset that supplied the settings not given; for the record."""
    language: str = ""
    """Language of programs; empty for the usual one of the benchmark."""
    prompt: str = "plain"
    few_shot: int | None = None
    """Solved examples in a prompt; None for as many as the benchmark has."""
    upstream: str = ""
    """Checkout of LiveCodeBench whose prompts `upstream` stands for."""
    extraction: str = extractions.DEFAULT
    mode: Modes = "both"
    run_tests: bool = True
    timeout: float = 600.0
    """Longest time of one whole reply."""
    test_timeout: float = 6.0
    memory: int | None = None
    max_connections: int = 8
    concurrency: int | None = None
    """Samples under way at once; None for what connections and cells can use."""
    max_retries: int = 4
    """Second and later requests for one reply, at most."""
    retry_budget: int = 1000
    """Second and later requests in the whole run, at most."""
    agentic_mode: bool = False
    agent: str = ""
    """MODULE:CALLABLE of the agent; empty for the built-in one. Needs agentic_mode."""
    agentic_turn_budget: int = 10
    agentic_protocol: Channel = "tools"
    agentic_token_budget: int | None = None
    agentic_time_budget: float | None = None
    jobs: int | None = None
    isolation: str | None = None
    min_isolation: str | None = None
    python: str | None = None
    packages: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()
    normalise_cpu: str = ""
    """Speed of the machine whose CPU limits are to hold, as `proctor doctor --speed` prints it;
    empty for each machine's own."""
    prices: str = ""
    """File with a table of prices that takes precedence over the bundled one."""

    def __post_init__(self) -> None:
        for name in ("n", "request_n", "max_tokens", "top_k", "max_connections", "concurrency",
                     "agentic_turn_budget"):  # fmt: skip
            if (value := getattr(self, name)) is not None and value < 1:
                raise SettingsError(f"{_option(name)} must be at least 1, not {value}")
        for name in ("timeout", "test_timeout"):
            if getattr(self, name) <= 0:
                raise SettingsError(f"{_option(name)} must be more than 0")
        for name in ("max_retries", "retry_budget", "few_shot"):
            if (getattr(self, name) or 0) < 0:
                raise SettingsError(f"{_option(name)} must not be negative")
        if self.agentic_mode and self.request_n > 1:
            raise SettingsError("agents ask for one reply at a time: leave --request-n out")
        if self.batch:
            self._check_batch()
        if self.agent and not self.agentic_mode:
            raise SettingsError("an agent works in agentic mode only: set agentic_mode")
        check_headers(self.headers)
        check_extra_body(self.extra_body)
        check_secrets(self.chat_template, "--chat-template")
        check_secrets(self.base_url, "--base-url")
        if self.extraction not in extractions.policies():
            raise SettingsError(f"--extraction is one of {', '.join(extractions.policies())}")

    def _check_batch(self) -> None:
        """Raise SettingsError for settings that cannot be combined with batches."""
        if self.batch not in {"openai", "anthropic"}:
            raise SettingsError(f"--batch is openai or anthropic, not {self.batch!r}")
        if self.model.startswith("replay:"):
            raise SettingsError("a recording is not asked: leave --batch out")
        if self.model.startswith("litellm:"):
            raise SettingsError("--batch asks the provider itself: leave litellm: out of --model")
        if self.agentic_mode:
            raise SettingsError("an agent waits for each reply: leave --batch out")
        if self.request_n > 1:
            raise SettingsError("each sample is a request of the batch: leave --request-n out")
        if self.batch == "anthropic":
            if self.max_tokens is None:
                raise SettingsError("--batch anthropic needs --max-tokens, as the API does")
            for name in ("seed", "min_p", "chat_template"):
                if getattr(self, name) not in (None, {}):
                    raise SettingsError(f"Anthropic's API has no such thing as {_option(name)}")

    @property
    def modes(self) -> tuple[Mode, ...]:
        """Modes of judging, in the order of display; none with --no-run-tests."""
        if not self.run_tests:
            return ()
        return ("official", "standard") if self.mode == "both" else (self.mode,)

    @property
    def sampling(self) -> Sampling:
        """Sampling parameters of requests."""
        return Sampling(
            self.temperature,
            self.top_p,
            self.max_tokens,
            self.seed,
            self.stop,
            self.top_k,
            self.min_p,
            self.reasoning_effort,
            self.chat_template,
            self.extra_body,
        )

    def judge_settings(self, mode: str) -> JudgeSettings:
        """Return the settings by which a mode judges. Raises SettingsError."""
        limits = replace(default_limits(mode), cpu=self.test_timeout)
        if self.memory is not None:
            limits = replace(limits, memory=self.memory)
        return JudgeSettings(cast("Mode", mode), limits)  # JudgeSettings checks the mode

    def judges(self, round_: int) -> dict[str, str]:
        """Return the judge's key by mode: a digest of the round and all that it depends on."""
        return {
            mode: _digest([
                __version__, round_, self.judge_settings(mode), self.python, self.packages,
                self.preload, *([self.normalise_cpu] if self.normalise_cpu else []),
            ])
            for mode in self.modes
        }  # fmt: skip

    @property
    def budgets(self) -> Budgets:
        """Budgets at which the agent stops."""
        return Budgets(
            self.agentic_turn_budget,
            self.agentic_token_budget,
            self.agentic_time_budget,
            self.agentic_protocol,
        )

    @property
    def pool(self) -> dict[str, Any]:
        """Arguments of `open_pool`."""
        return {
            "isolation": self.isolation,
            "min_isolation": self.min_isolation,
            "python": self.python,
            "packages": self.packages,
            "preload": self.preload,
            "cells": self.jobs,
        }


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _digest(value: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()[:16]
