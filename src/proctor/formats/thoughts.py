"""A reply without what its model thought, and without the tokens that servers leave in it."""

import re

_TAG = re.compile(
    r"<(/?)(?:seed:)?(?:think|thinking|thought|reasoning|reflection)>"
    r"|◁(/?)think▷|\[(/?)THINK\]|<\|(?:begin|(end))_of_thought\|>",
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)[^<\n]{0,100}(?:<\|\w+\|>\w*)?<\|message\|>")
_BARE_FINAL = "assistantfinal"
"""Text that is left between the channels where a server takes special tokens off."""
_LONGEST_TOKEN = 44
_LAST = re.compile(
    r"(?:<\|[^|<>\s]{1,40}\|>|<｜[^｜<>\s]{1,40}｜>|</s>|<eos>|<end_of_turn>|\[/?INST\])\Z"
)


def answer(reply: str) -> str:
    """Return the reply without thoughts and final tokens; "" if it ends while still thinking.

    Thoughts are what stands in tags such as <think>, and in all channels of OpenAI's harmony format
    but `final`. Some servers cut the opening tag off, so what is before a closing one is thought,
    too.
    """
    return _without_tags(_final_channel(without_tokens(reply)))


def without_tokens(reply: str) -> str:
    """Return the reply without special tokens at its end, such as <|im_end|>."""
    end = len(reply)
    while True:
        upto = _bare_end(reply, end)
        found = _LAST.search(reply[max(0, upto - _LONGEST_TOKEN) : upto])
        if found is None:
            return reply[:end]
        end = upto - len(found[0])


def _bare_end(text: str, end: int) -> int:
    while end and text[end - 1].isspace():
        end -= 1
    return end


def _final_channel(reply: str) -> str:
    channels = list(_CHANNEL.finditer(reply))
    if not channels:
        if reply.startswith("analysis") and _BARE_FINAL in reply:
            return reply.rpartition(_BARE_FINAL)[2]
        return reply
    ends = [each.start() for each in channels[1:]] + [len(reply)]
    bounds = zip(channels, ends, strict=True)
    final = [reply[each.end() : end] for each, end in bounds if each[1] == "final"]
    return _ended(final[-1]) if final else ""


def _ended(message: str) -> str:
    for token in ("<|return|>", "<|end|>", "<|start|>"):
        message = message.partition(token)[0]
    return message


def _without_tags(reply: str) -> str:
    kept: list[str] = []
    at, thinking = 0, False
    for tag in _TAG.finditer(reply):
        if any(tag.groups()):
            if not thinking:
                kept.clear()
            at, thinking = tag.end(), False
        elif not thinking:
            kept.append(reply[at : tag.start()])
            at, thinking = tag.start(), True
    if thinking and not "".join(kept).strip():
        return ""
    return "".join(kept) + reply[at:]
