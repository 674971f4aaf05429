"""Why no program was found in a reply."""

import re

from proctor.evals.models.model import ModelReply
from proctor.formats.thoughts import answer
from proctor.reports.no_program import Reason

_REFUSES = re.compile(
    r"\s*(?:i['’]m sorry|i am sorry|sorry\b|i apologi[sz]e|i can(?:['’]t|not)\b|i won['’]t\b"
    r"|i['’]m (?:not able|unable)|i am (?:not able|unable)|as an ai\b|unfortunately, i\b)",
    re.IGNORECASE,
)
_LONGEST_REFUSAL = 2000


def reason_of(reply: ModelReply) -> Reason:
    """Return the reason that fits a reply without a program best."""
    text = answer(reply.text)
    if reply.finish_reason == "content_filter":
        return Reason.CONTENT_FILTER
    if reply.finish_reason == "length":
        return Reason.CUT_SHORT
    if not text.strip() or "```" not in text:
        thought = reply.reasoning + (reply.text if text != reply.text else "")
        if "```" in thought or "def " in thought:
            return Reason.ONLY_IN_REASONING
    if not text.strip():
        return Reason.EMPTY
    if reply.finish_reason == "refusal" or (
        len(text) < _LONGEST_REFUSAL and _REFUSES.match(text) is not None
    ):
        return Reason.REFUSAL
    return Reason.NO_BLOCK
