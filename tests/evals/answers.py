"""Right programs for the fixture, as the bundled file has them."""

import json
from importlib.resources import files

BUNDLED = files("proctor") / "bundled"


def right_programs() -> dict[str, str]:
    """Title -> program that both judges accept."""
    titles, programs = {}, {}
    for line in (BUNDLED / "problems.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row.get("subset") == "fixture":
            titles[row["question_id"]] = row["question_title"]
    for line in (BUNDLED / "programs.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["note"].startswith("right") and row["question_id"] in titles:
            programs[titles[row["question_id"]]] = row["code"]
    return programs


def right_reply(prompt: str) -> str:
    """A chat model's reply with the program for whichever problem the prompt is about."""
    for title, program in right_programs().items():
        if f"# {title}\n" in prompt:
            return f"<think>Easy.</think>Here it is:\n\n```python\n{program}```\nDone."
    raise AssertionError(f"no fixture problem in {prompt!r}")
