"""`proctor judge` and `proctor verify` with packages of several problems, and without limits."""

import json
from pathlib import Path

import pytest
from command import proctor

PACKAGES = Path(__file__).parents[1] / "packages"
ITEM = """<item><title>{title}</title><time_limit>1</time_limit><memory_limit>64</memory_limit>
<test_input>{given}</test_input><test_output>{answer}</test_output>
<solution language="Python">print({code})</solution></item>"""


def export(tmp_path: Path) -> Path:
    path = tmp_path / "export.xml"
    items = [
        ITEM.format(title="Double", given=3, answer=6, code="2 * int(input())"),
        ITEM.format(title="Negate", given=3, answer=-3, code="int(input())"),
    ]
    path.write_text(f'<fps version="1.2">{"".join(items)}</fps>')
    return path


def test_one_problem_of_an_fps_file(tmp_path: Path) -> None:
    path = export(tmp_path)
    (tmp_path / "negate.py").write_text("print(-int(input()))")
    verdicts = {}
    for number in "12":
        done = proctor("judge", path, tmp_path / "negate.py", "--problem-id", number, "--json")
        row = json.loads(done.stdout)
        verdicts[row["problem"]] = row["verdict"]
    assert verdicts == {"1": "WA", "2": "AC"}
    done = proctor("judge", path, tmp_path / "negate.py")
    assert done.returncode == 2
    assert b"say which with --problem-id: 1 (Double), 2 (Negate)" in done.stderr


@pytest.mark.slow
def test_verifying_one_of_several(tmp_path: Path) -> None:
    path = export(tmp_path)
    right = proctor("verify", path, "--problem-id", "1")
    assert (right.returncode, b"1 of 1 submission as labelled" in right.stdout) == (0, True)
    assert proctor("verify", path, "--problem-id", "2").returncode == 1
    assert proctor("verify", path).returncode == 2


@pytest.mark.slow
def test_limits_are_for_problems_that_state_none(tmp_path: Path) -> None:
    (tmp_path / "input").mkdir()
    (tmp_path / "output").mkdir()
    (tmp_path / "input/input00.txt").write_text("1\n")
    (tmp_path / "output/output00.txt").write_text("1\n")
    (tmp_path / "spin.py").write_text("while True: pass")
    (tmp_path / "large.py").write_text("x = bytearray(200 << 20)\nprint(input())")
    done = proctor("judge", tmp_path, tmp_path / "spin.py", "--timeout", "200ms", "--json")
    (test,) = json.loads(done.stdout)["tests"]
    assert (test["verdict"], test["cpu"] < 2) == ("TLE", True)
    verdicts = [
        json.loads(proctor("judge", tmp_path, tmp_path / "large.py", *options, "--json").stdout)
        for options in ([], ["--memory", "100M"])
    ]
    assert verdicts[0]["verdict"] == "AC"
    assert verdicts[1]["verdict"] in {"MLE", "RE"}
    refused = proctor("judge", PACKAGES / "splitsum", tmp_path / "spin.py", "--timeout", "1s")
    assert refused.returncode == 2
    assert b"--timeout: not with PROBLEM where its format has limits" in refused.stderr


def test_verifying_a_directory_without_labels(tmp_path: Path) -> None:
    (tmp_path / "1.in").write_text("1\n")
    (tmp_path / "1.out").write_text("1\n")
    done = proctor("verify", tmp_path)
    assert done.returncode == 2
    assert b"the package has no labelled submissions to verify" in done.stderr
