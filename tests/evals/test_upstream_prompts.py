"""lcb_runner's prompts as ours: equal on real rows to digests that lcb_runner itself made.

PROCTOR_TEST_LCB_RUNNER names a checkout of LiveCodeBench, or where nvidia-livecodebench, which has
the same prompts in most styles, is unpacked. `tools/golden_prompts.py` made the digests.
"""

import json
import os
from pathlib import Path

import pytest
from upstream_rows import SCENARIOS, digest, ours

from proctor.errors import SettingsError

GOLDEN = json.loads(Path(__file__).with_name("upstream_prompts.json").read_text())
CHECKOUT = os.environ.get("PROCTOR_TEST_LCB_RUNNER", "")
LACKING = {"Claude3Thinking", "CohereCommand", "DeepSeekR1", "Grok", "QwQ", "TogetherAI"}
"""Styles that the copy of NVIDIA lacks."""
STYLES = [(scenario, style) for scenario in SCENARIOS for style in GOLDEN[scenario]]


@pytest.mark.data("livecodebench")
@pytest.mark.data("cruxeval")
@pytest.mark.outside("LCB_RUNNER")
@pytest.mark.parametrize(("scenario", "style"), STYLES)
def test_equal_on_all_rows(scenario: str, style: str) -> None:
    data = Path(os.environ["PROCTOR_TEST_DATA"])
    if style in LACKING and not (Path(CHECKOUT) / "lcb_runner").is_dir():
        with pytest.raises(SettingsError, match="has no prompt"):
            list(ours(data, scenario, style, CHECKOUT))
        return
    made = list(ours(data, scenario, style, CHECKOUT))
    assert len(made) > 150
    assert digest(iter(made)) == GOLDEN[scenario][style]
