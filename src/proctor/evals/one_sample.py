"""Extraction and grading of one sample, so that its errors do not affect other samples."""

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
    """Return what was extracted, and the message of an error that prevented it, or ""."""
    try:
        return benchmark.extract(instance, text, settings), ""
    except Exception as error:  # whatever a model wrote, it must not cost the other samples
        _logger.exception("please report this")
        return Extracted(""), f"no program could be taken from the reply: {error!r}"


async def graded_by(grader: Grader[Any], instance: Instance, code: str, mode: str) -> Graded:
    """Grade one sample; a faulty task or an unforeseen error becomes a verdict.

    Raises ProctorError for a failure that would affect all samples alike.
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
