"""A checkout shaped as LiveCodeBench's, with words of our own: what is done with any such files.

The real one is compared in test_upstream_prompts.py.
"""

from pathlib import Path

STYLES = """
from enum import Enum
class LMStyle(Enum):
    OpenAIChat = "OpenAIChat"
    GenericBase = "GenericBase"
    Gemini = "Gemini"
    Claude3 = "Claude3"
"""
GENERATION = """
import json
try:
    from anthropic import AI_PROMPT
except ImportError:
    AI_PROMPT = None
from lcb_runner.lm_styles import LMStyle
from lcb_runner.benchmarks.code_generation import CodeGenerationProblem
with open("lcb_runner/prompts/few_shot_examples/generation/func.json") as f:
    func = json.load(f)

def format_prompt_generation(question: CodeGenerationProblem, style):
    text = f"# {question.question_content}\\n" + (question.starter_code or "stdin")
    if style == LMStyle.OpenAIChat:
        return [{"role": "system", "content": "Code!"}, {"role": "user", "content": text}]
    if style == LMStyle.Gemini:
        return "Gemini, code! " + text
    if style == LMStyle.GenericBase:
        return func[0] + text + "\\n"
    raise NotImplementedError
"""
REPAIR = """
import json
from anthropic import HUMAN_PROMPT
from lcb_runner.lm_styles import LMStyle

def format_prompt_self_repair(question, style, code, result, metadata):
    told = json.loads(metadata)
    text = f"# {question}\\n{code}\\n"
    if "error_code" in told:
        text += "error " + str(told["error_code"])
        if told["error_code"] == -2:
            text += f" in {told['inputs']} out {told['output']} not {told['expected']}"
    if style == LMStyle.OpenAIChat:
        return [{"role": "user", "content": text}]
    if style == LMStyle.NotThere:
        return ""
    raise NotImplementedError
"""
OUTPUT = """
from lcb_runner.lm_styles import LMStyle
from lcb_runner.benchmarks import TestOutputPredictionProblem
import ast

def format_prompt_test_output(question: TestOutputPredictionProblem, style):
    (name,) = (each.name for each in ast.walk(ast.parse(question.starter_code))
               if isinstance(each, ast.FunctionDef))
    given = ", ".join(question.test[0].input.split("\\n"))
    text = f"{question.question_content}|{question.starter_code}|assert {name}({given})"
    if style == LMStyle.Claude3:
        return "Predict.", [{"role": "user", "content": text}]
    if style == LMStyle.OpenAIChat:
        return [{"role": "user", "content": text}]
    raise NotImplementedError
"""
EXECUTION = """
from lcb_runner.benchmarks import CodeExecutionProblem

def format_prompt_execution(question: CodeExecutionProblem, style):
    return [{"role": "user", "content": f"{question.code}|{question.input}"}]

def format_prompt_execution_cot(question, style):
    return [{"role": "user", "content": f"think: {question.code}|{question.input}"}]
"""


def written(place: Path, **changed: str) -> Path:
    """Write a checkout; `changed` replaces files by the part of their name before the dot."""
    texts = {
        "lm_styles.py": STYLES,
        "prompts/code_generation.py": GENERATION,
        "prompts/self_repair.py": REPAIR,
        "prompts/test_output_prediction.py": OUTPUT,
        "prompts/code_execution.py": EXECUTION,
        "prompts/few_shot_examples/generation/func.json": '["One shot. "]',
        "prompts/few_shot_examples/generation/stdin.json": "[]",
    }
    for name, text in texts.items():
        path = place / "lcb_runner" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(changed.get(path.stem, text))
    return place
