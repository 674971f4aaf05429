"""Digests of lcb_runner's prompts on real rows, made by lcb_runner itself.

    PROCTOR_TEST_DATA=DATA python tools/golden_prompts.py CHECKOUT > FILE

FILE is tests/evals/upstream_prompts.json, which a test compares. Runs the checkout's code, its own
problem classes included, in this process: use one that you have looked at. Only what needs a
network is replaced: data sets, and tokenizers, whose chat templates return the messages.
"""

import json
import os
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "evals"))
from upstream_rows import SCENARIOS, digest, rows

from proctor.evals.models.model import Message


class _Tokenizer:
    @classmethod
    def from_pretrained(cls, *_arguments: Any, **_options: Any) -> "_Tokenizer":
        return cls()

    def apply_chat_template(self, messages: Any, **_options: Any) -> Any:
        return messages


def main() -> None:
    """Print digests by scenario and style."""
    checkout, data = Path(sys.argv[1]).resolve(), Path(os.environ["PROCTOR_TEST_DATA"])
    package = "lcb_runner" if (checkout / "lcb_runner").is_dir() else "livecodebench"
    os.chdir(checkout)
    sys.path.insert(0, str(checkout))
    for name, content in (("datasets", {"load_dataset": None, "Dataset": None}),
                          ("transformers", {"AutoTokenizer": _Tokenizer}),
                          ("anthropic", {"HUMAN_PROMPT": "\n\nHuman:",
                                         "AI_PROMPT": "\n\nAssistant:"})):  # fmt: skip
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(content)
    prompts = __import__(f"{package}.prompts", fromlist=["*"])
    styles = __import__(f"{package}.lm_styles", fromlist=["LMStyle"]).LMStyle
    classes = __import__(f"{package}.benchmarks", fromlist=["*"])
    found: dict[str, dict[str, str]] = {}
    for scenario in SCENARIOS:
        for style in styles:
            try:
                made = list(_made(prompts, classes, scenario, style, data))
            except (NotImplementedError, AttributeError):
                continue
            found.setdefault(scenario, {})[style.name] = digest(iter(made))
    json.dump(found, sys.stdout, indent=1)
    sys.stdout.write("\n")


def _made(
    prompts: Any, classes: Any, scenario: str, style: Any, data: Path
) -> Iterator[tuple[Message, ...]]:
    def messages(prompt: Any) -> tuple[Message, ...]:
        if isinstance(prompt, str):
            chat = style.name in {"Gemini", "GeminiThinking"}
            return (Message("user" if chat else "text", prompt),)
        if isinstance(prompt, tuple):
            prompt = [{"role": "system", "content": prompt[0]}, *prompt[1]]
        return tuple(Message(each["role"], each["content"]) for each in prompt)

    for row in rows(data, scenario):
        if scenario == "codegeneration":
            dated = row | {"contest_date": "2024-01-01", "private_test_cases": "[]",
                           "public_test_cases": "[]", "metadata": "{}"}  # fmt: skip
            question = classes.CodeGenerationProblem(**dated)
            yield messages(prompts.format_prompt_generation(question, style))
        elif scenario == "selfrepair":
            metadata = json.dumps(row["metadata"])
            yield messages(prompts.format_prompt_self_repair(
                row["question"], style, row["code"], False, metadata
            ))  # fmt: skip
        elif scenario == "testoutputprediction":
            question = classes.TestOutputPredictionProblem(**row)
            yield messages(prompts.format_prompt_test_output(question, style))
        else:
            question = classes.CodeExecutionProblem(**row)
            yield messages(prompts.format_prompt_execution(question, style))
            yield messages(prompts.format_prompt_execution_cot(question, style))


main()
