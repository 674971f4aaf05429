"""Bodies of requests in OpenAI's form, as they are sent one by one and in batches."""

from typing import Any

import msgspec

from proctor.errors import SettingsError
from proctor.evals.models.model import ModelRequest, plain


def is_text(request: ModelRequest) -> bool:
    """Return True for a text to be completed, which goes to the completions API.

    Raises SettingsError if other messages or tools come with it.
    """
    if not any(message.role == "text" for message in request.messages):
        return False
    if len(request.messages) > 1 or request.tools:
        raise SettingsError("a text to be completed has no other messages and no tools")
    return True


def body_of(request: ModelRequest, model: str, limit_field: str, n: int = 1) -> dict[str, Any]:
    """Return the body of a request for n replies; what is None is left out.

    `limit_field` is the server's name for a chat completion's token limit. Raises SettingsError.
    """
    sampling = request.sampling
    text = is_text(request)
    tools = [{"type": "function", "function": msgspec.to_builtins(tool)} for tool in request.tools]
    prompt = plain(request.messages)
    wanted = {
        "n": n if n > 1 else None,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens" if text else limit_field: sampling.max_tokens,
        "seed": None if sampling.seed is None else sampling.seed + request.sample,
        "stop": list(sampling.stop) or None,
        "tools": tools or None,
        "top_k": sampling.top_k,
        "min_p": sampling.min_p,
        "reasoning_effort": sampling.reasoning_effort,
        "chat_template_kwargs": dict(sampling.chat_template) or None,
    }
    return {
        "model": model,
        **({"prompt": prompt[0]["content"]} if text else {"messages": prompt}),
        **{name: value for name, value in wanted.items() if value is not None},
        **sampling.extra_body,
    }
