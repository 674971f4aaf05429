"""Runs to look at, made by the real command once."""

import sys
from pathlib import Path

import pytest

for folder in ("cli", "evals"):
    sys.path.insert(0, str(Path(__file__).parents[1] / folder))


@pytest.fixture(scope="session")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs `first` and `second`, whose wrong replies are refusals and whose crashes are right."""
    from recorded_replies import evaluate, replies

    place = tmp_path_factory.mktemp("evaluated") / "runs"
    known = replies()
    right = {problem: text for problem, kind, text in known if kind == "right"}
    second = {"wrong": lambda _: "I cannot help with that.", "crash": right.__getitem__}
    evaluate(place, "first", [{"question_id": p, "generation": text} for p, _, text in known])
    evaluate(place, "second", [
        {"question_id": p, "generation": second.get(kind, lambda _, text=text: text)(p)}
        for p, kind, text in known
    ])  # fmt: skip
    return place
