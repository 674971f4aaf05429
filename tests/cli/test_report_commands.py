"""`proctor report` and `proctor compare` as commands."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from command import proctor, write_rows

from made_runs import make_run, with_details
from proctor.reports.records import RunRecords, write_run


def saved(directory: Path, run: RunRecords) -> Path:
    path = directory / f"{run.name}.jsonl"
    write_run(path, run)
    return path


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return saved(tmp_path, make_run("old", contests=20, samples=1))


def test_report_writes_one_page(tmp_path: Path, old: Path) -> None:
    new = saved(tmp_path, with_details(make_run("new", contests=20, samples=1, skill=1)))
    errata = tmp_path / "errata.toml"
    errata.write_text('name = "n"\n[[erratum]]\nproblem = "atc000_a"\nreason = "r"\nsource = "s"\n')
    out = tmp_path / "page.html"
    done = proctor(
        "report", old, f"mine={new}", "-o", out, "--cutoff", "mine=2024-06-30", "--title", "T <1>",
        "--errata", errata,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == b""
    page = out.read_text()
    assert "<h1>T &lt;1&gt;</h1>" in page
    assert "cutoff 2024-06-30" in page
    assert "without 1 problem of the errata list" in page
    assert "sys.stdin" in page
    assert proctor("report", new, "-o", out, "--no-code").returncode == 0
    assert "sys.stdin" not in out.read_text()


@pytest.mark.slow
def test_a_ranking(tmp_path: Path, old: Path) -> None:
    new = saved(tmp_path, make_run("new", contests=20, samples=1, skill=3))
    out = tmp_path / "page.html"
    done = proctor("report", old, new, "--rank", "-o", out)
    assert done.returncode == 0, done.stderr
    page = out.read_text()
    assert "<h2>Ranking</h2>" in page
    assert page.index(">new</th>") < page.index(">old</th>")
    assert proctor("report", old, new, "-o", out).returncode == 0
    assert "<h2>Ranking</h2>" not in out.read_text()


@pytest.mark.slow
def test_a_ranking_as_a_site(tmp_path: Path, old: Path) -> None:
    new = saved(tmp_path, with_details(make_run("new", contests=20, samples=1, skill=3)))
    out = tmp_path / "public" / "site"
    done = proctor("report", old, new, "--rank", "-o", f"{out}/")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in out.iterdir()) == [
        "index.html",
        "run-new.html",
        "run-old.html",
    ]
    index = (out / "index.html").read_text()
    assert index.index('<a href="run-new.html">') < index.index('<a href="run-old.html">')
    assert "sys.stdin" in (out / "run-new.html").read_text()
    # A second time into what is there, without programs.
    (out / "mine.txt").write_text("kept")
    assert proctor("report", old, new, "--rank", "--no-code", "-o", out).returncode == 0
    assert "sys.stdin" not in (out / "run-new.html").read_text()
    assert (out / "mine.txt").read_text() == "kept"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rank"], "--rank orders two runs or more"),
        (["--cutoff", "2024-06"], "a date is YYYY-MM-DD, not '2024-06'"),
        (["--cutoff", "other=2024-06-30"], "there is no run 'other'"),
        (["--mode", "strict"], "is standard or official, not 'strict'"),
        (["--errata", "nowhere.toml"], "nowhere.toml: cannot be read"),
        (["--out", "/tmp/"], "is a directory, which holds a ranking only: --rank"),
        (["--out", "/nowhere/page.html"], "/nowhere/page.html: cannot be written"),
    ],
)
def test_report_says_what_is_wrong(
    tmp_path: Path, old: Path, arguments: list[str], message: str
) -> None:
    done = proctor("report", old, "-o", tmp_path / "page.html", *arguments)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert not (tmp_path / "page.html").exists()


def test_two_runs_of_one_name(tmp_path: Path, old: Path) -> None:
    done = proctor("report", old, old, "-o", tmp_path / "page.html")
    assert done.returncode == 2
    assert "two runs are called 'old'; name them: NAME=FILE" in done.stderr.decode()


def test_compare_as_json(tmp_path: Path, old: Path) -> None:
    new = saved(tmp_path, make_run("new", contests=20, samples=1, skill=1))
    third = saved(tmp_path, make_run("third", contests=20, samples=1, seed=8))
    done = proctor("compare", old, new, third, "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["comparisons"]
    assert [(row["b"], row["mode"]) for row in rows] == [
        ("new", "official"), ("new", "standard"), ("third", "official"), ("third", "standard"),
    ]  # fmt: skip
    for row in rows:
        found = row["comparison"]
        assert found["problems"] == 80
        assert len(found["wins"]) + len(found["losses"]) + found["ties"] == 80
        assert found["low"] <= found["difference"] <= found["high"]
        assert found["p_value"] <= row["p_holm"] <= 2 * found["p_value"]
        assert found["mcnemar"] is not None


def test_compare_refuses_what_was_made_differently(tmp_path: Path, old: Path) -> None:
    run = make_run("other", contests=20, samples=1)
    other = saved(tmp_path, replace(run, provenance={**run.provenance, "judge": "0.2.0"}))
    refused = proctor("compare", old, other)
    assert refused.returncode == 2
    assert "judge differs: '0.1.0' in old, '0.2.0' in other" in refused.stderr.decode()
    assert refused.stdout == b""
    forced = proctor("compare", old, other, "--force")
    assert forced.returncode == 0
    assert "judge differs" in forced.stderr.decode()
    assert "+0.0 points" in forced.stdout.decode()


def test_compare_without_anything_in_common(tmp_path: Path, old: Path) -> None:
    run = make_run("new", contests=2, samples=1)
    renamed = tuple(replace(each, problem_id=f"x{each.problem_id}") for each in run.records)
    done = proctor("compare", old, saved(tmp_path, replace(run, records=renamed)))
    assert done.returncode == 2
    assert "no scored problem in common" in done.stderr.decode()
    official = tuple(replace(each, standard=None) for each in run.records)
    done = proctor(
        "compare", old, saved(tmp_path, replace(run, records=official)), "--mode", "standard"
    )
    assert done.returncode == 2
    assert "were not both judged by standard rules" in done.stderr.decode()


@pytest.mark.slow
def test_a_runs_directory(tmp_path: Path) -> None:
    """A run that is really made, judged in cells, from recorded replies."""
    replies = write_rows(
        tmp_path / "replies.jsonl",
        [{"question_id": "proctor-02-quiet-hours", "generation": "```python\nprint('no')\n```"}],
    )
    run = tmp_path / "run"
    made = proctor(
        "eval", "livecodebench", "--source", "fixture", "--sample-id", "proctor-02-quiet-hours",
        "--model", f"replay:{replies}", "--out", run,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    out = tmp_path / "page.html"
    done = proctor("report", run, "-o", out)
    assert done.returncode == 0, done.stderr
    page = out.read_text()
    assert "print('no')" in page
    assert f"replay:{replies}" in page
    assert "None was given with the records" not in page
    compared = proctor("compare", run, f"again={run}", "--json")
    assert compared.returncode == 0, compared.stderr
    found = json.loads(compared.stdout)
    assert found["provenance"]["again"] == {"unlike": {}, "unknown": []}
    assert found["comparisons"][0]["comparison"]["ties"] == 1
