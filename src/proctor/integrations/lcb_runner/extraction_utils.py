"""lcb_runner.utils.extraction_utils: the answer in a model's reply.

A style is a member of upstream's LMStyle, or the name of one; only its name is looked at.
"""

from proctor.errors import InputError
from proctor.formats.replies import asserted_line, between_last_fences, stated_value

__all__ = [
    "extract_code",
    "extract_code_generation",
    "extract_execution_code",
    "extract_test_output_code",
]

_LLAMA = "CodeLLaMaInstruct"
_LLAMA_MARK = "PYTHON]"


def extract_code(model_output: str, lmstyle: object) -> str:
    """Return the lines between the last two that hold a Markdown fence; "" if there are no two.

    For GenericBase it is the whole reply, stripped. For CodeLLaMaInstruct [PYTHON] marks count
    before fences; upstream returns None there.
    """
    style = _name(lmstyle)
    if style == "GenericBase":
        return model_output.strip()
    marked = between_last_fences(model_output, _LLAMA_MARK) if style == _LLAMA else ""
    return marked or between_last_fences(model_output)


def extract_test_output_code(model_output: str, lmstyle: object = None) -> str:
    """Return the last line that begins with "assert", else the first fenced block, of Python first.

    For CodeLLaMaInstruct the block is the lines between the first two [PYTHON] marks.
    """
    return asserted_line(model_output, _LLAMA_MARK if _name(lmstyle) == _LLAMA else "```")


def extract_execution_code(model_output: str, lmstyle: object, cot: bool = False) -> str:  # noqa: ARG001 - upstream's
    """Return what follows ==, up to [/ANSWER] or the line's end; `cot`: what follows [ANSWER]."""
    return stated_value(model_output, thinking=cot)


def extract_code_generation(model_output: str, model_type: str = "chat") -> str:
    """Return the program in a model's reply, under the name and options of EvalScope.

    chat: the lines between the last two that hold a Markdown fence, and "" if there are no two.
    base: all of it, stripped. Raises InputError for another `model_type`.
    """
    if model_type not in {"base", "chat"}:
        raise InputError(f"is chat or base, not {model_type!r}", field="model_type")
    return extract_code(model_output, "GenericBase" if model_type == "base" else "")


def _name(lmstyle: object) -> str:
    return str(getattr(lmstyle, "name", lmstyle))
