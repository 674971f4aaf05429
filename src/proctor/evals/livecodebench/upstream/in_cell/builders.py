"""Calls lcb_runner's prompt builders with placeholders, and writes what they return.

Runs in a cell, beside the checkout's files. Input is JSON: `package`, `scenario`, `style`. Output
is JSON in the file templates.json: `variants`, the prompt of each by name, which is a text or a
list of messages, or an `error`; and `styles`, the names of styles for which there are prompts.

Of what the builders import, only the names are needed: a tokenizer's chat template returns the
messages, since the server that gets them has that template.
"""

import importlib
import json
import sys
import types
from pathlib import Path
from typing import Any

FUNCTION = "proctor_function"
STARTER = "def " + FUNCTION + "(): pass"


def placeholder(name: str) -> str:
    """Return the placeholder for a part of a problem."""
    return "\ue000" + name + "\ue001"


class Anything(types.ModuleType):
    """A module that has every class."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class Tokenizer:
    """Stand-in for the tokenizer of any model: it returns messages unchanged."""

    @classmethod
    def from_pretrained(cls, *_arguments: Any, **_options: Any) -> "Tokenizer":
        """Return a stand-in for any model."""
        return cls()

    def apply_chat_template(self, messages: Any, **_options: Any) -> Any:
        """Return the messages."""
        return messages


def prepare(package: str) -> None:
    """Install stand-ins for the modules that need more than the standard library."""
    for name, path in ((package, package), (package + ".prompts", package + "/prompts")):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [path]
    for name in ("benchmarks", "benchmarks.code_generation"):
        sys.modules[package + "." + name] = Anything(package + "." + name)
    sys.modules["transformers"] = types.ModuleType("transformers")
    vars(sys.modules["transformers"])["AutoTokenizer"] = Tokenizer
    sys.modules["anthropic"] = types.ModuleType("anthropic")
    # The values that the package anthropic has.
    vars(sys.modules["anthropic"]).update(HUMAN_PROMPT="\n\nHuman:", AI_PROMPT="\n\nAssistant:")


def generation(module: Any, style: Any) -> dict[str, Any]:
    """Ask for programs that read input, and for those that go on from a starter."""

    def ask(starter: str) -> Any:
        question = types.SimpleNamespace(
            question_content=placeholder("statement"), starter_code=starter
        )
        return module.format_prompt_generation(question, style)

    return {"stdin": ask(""), "starter": ask(placeholder("starter"))}


def repair(module: Any, style: Any) -> dict[str, Any]:
    """Ask for repairs of programs that failed with each error code, and with none."""
    named = {name: placeholder(name) for name in ("error", "inputs", "output", "expected")}

    def ask(metadata: dict[str, Any]) -> Any:
        return module.format_prompt_self_repair(
            placeholder("statement"), style, placeholder("code"), False, json.dumps(metadata)
        )

    codes = {str(code): ask({"error_code": code, **named}) for code in (-1, -2, -3, -4)}
    return {"": ask({}), **codes}


def output(module: Any, style: Any) -> dict[str, Any]:
    """Ask for the output of a test."""
    test = types.SimpleNamespace(input=placeholder("input"))
    question = types.SimpleNamespace(
        question_content=placeholder("statement"), starter_code=STARTER, function_name=FUNCTION,
        test=[test],
    )  # fmt: skip
    return {"": module.format_prompt_test_output(question, style)}


def execution(module: Any, style: Any) -> dict[str, Any]:
    """Ask for the value of a call, at once and after thinking."""
    question = types.SimpleNamespace(code=placeholder("code"), input=placeholder("input"))
    return {
        "": module.format_prompt_execution(question, style),
        "cot": module.format_prompt_execution_cot(question, style),
    }


SCENARIOS = {
    "codegeneration": ("code_generation", generation),
    "selfrepair": ("self_repair", repair),
    "testoutputprediction": ("test_output_prediction", output),
    "codeexecution": ("code_execution", execution),
}


def plain(prompt: Any) -> Any:
    """Return a prompt with its system message, separate in some styles, first in the list."""
    if isinstance(prompt, tuple):
        system, messages = prompt
        return [{"role": "system", "content": system}, *messages]
    return prompt


def templates(package: str, scenario: str, style: str) -> dict[str, Any]:
    """Return the variants of one style, and all styles that have any."""
    prepare(package)
    styles = importlib.import_module(package + ".lm_styles").LMStyle
    name, build = SCENARIOS[scenario]
    module = importlib.import_module(package + ".prompts." + name)
    made: dict[str, dict[str, Any]] = {}
    for each in styles:
        try:
            made[each.name] = {name: plain(each) for name, each in build(module, each).items()}
        except (NotImplementedError, AttributeError):  # upstream has no such prompt or style
            continue
    return {"variants": made.get(style, {}), "styles": sorted(made)}


def main() -> None:
    """Read the request from stdin, and write the templates or an error."""
    wanted = json.load(sys.stdin)
    try:
        found = templates(wanted["package"], wanted["scenario"], wanted["style"])
    except Exception as error:  # noqa: BLE001 - whatever a checkout does, the host is told
        found = {"error": f"{type(error).__name__}: {error}"}
    Path("templates.json").write_text(json.dumps(found), "utf-8")


main()
