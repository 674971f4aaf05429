"""Extraction and grading of one sample, whose misfortune must not cost the others."""

import logging
from typing import Any

from proctor.errors import InputError, ProctorError
from proctor.evals.benchmark import Benchmark, Graded, Grader, Instance
from proctor.evals.extraction import Extracted
from proctor.evals.settings import Settings
from proctor.verdict import Verdict

_logger = logging.getLogger(__name__)


def taken_from(
    benchmark: Benchmark[Any], instance: Instance, text: str, settings: Settings
) -> tuple[Extracted, str]:
    """Return what a reply holds, and the fault of ours for which nothing was taken; else ""."""
    try:
        return benchmark.extract(instance, text, settings), ""
    except Exception as error:  # whatever a model wrote, it must not cost the other samples
        _logger.exception("please report this")
        return Extracted(""), f"no program could be taken from the reply: {error!r}"


async def graded_by(grader: Grader[Any], instance: Instance, code: str, mode: str) -> Graded:
    """Grade; what the task, or an unforeseen error, is to blame for is a verdict.

    Raises ProctorError for what would fail all samples alike.
    """
    try:
        return await grader.grade(instance, code, mode)
    except InputError as error:
        return Graded(Verdict.TASK_FAULT, message=str(error))
    except ProctorError:
        raise
    except Exception as error:  # one sample's misfortune must not cost the others
        _logger.exception("please report this")
        return Graded(Verdict.INFRA_FAULT, message=f"internal error: {error!r}")
