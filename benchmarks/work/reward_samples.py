"""Samples of a step of code RL: prompts with tests, several answers each, of every quality."""

import json
from pathlib import Path

ENDLESS = "while True:\n    pass\n"
CRASH = "raise ValueError(input())\n"


def _tests(row):
    cases = json.loads(row["public_test_cases"]) + json.loads(row["private_test_cases"])
    stdin = not json.loads(row["metadata"]).get("func_name")
    inputs, outputs = ([case[name] for case in cases] for name in ("input", "output"))
    return {"inputs": inputs, "outputs": outputs} if stdin else None


def batch(home, prompts, endless):
    """Return (tests, answer) for eight answers to each prompt.

    Three are right, two of them with a comment of their own; two print a line too many, one crashes
    at once, one is cut short, and one is what another model wrote. Of `endless` prompts the one
    that crashes runs forever instead.
    """
    rows = map(json.loads, Path(home, "problems.jsonl").read_text("utf-8").splitlines())
    tests = {row["question_id"]: found for row in rows if (found := _tests(row))}
    right, others = {}, {}
    for line in Path(home, "programs.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["question_id"] in tests:
            first = row["leaderboard_passed"] and row["question_id"] not in right
            (right if first else others)[row["question_id"]] = row["code"]
    names = [name for name in right if name in others][:prompts]
    made = []
    for number, name in enumerate(names):
        code = right[name]
        answers = [
            code, f"# Another try.\n{code}", f"{code}\n# Done.", others[name],
            f"{code}\nprint(0)", f"print(0)\n{code}", ENDLESS if number < endless else CRASH,
            code[: len(code) // 2],
        ]  # fmt: skip
        made += [(tests[name], f"Thus:\n```python\n{each}\n```\n") for each in answers]
    return made
