"""Whether the project can be released: its addresses, its notes, and what GitHub reads."""

import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from email import message_from_string
from pathlib import Path

import pytest
import yaml

import proctor
from waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sysconfig.get_path("scripts"))
FILES = (
    "pyproject.toml", "CITATION.cff", "README.md", "SECURITY.md", "CHANGELOG.md", "setup.py",
    ".github/CODEOWNERS", ".github/ISSUE_TEMPLATE/config.yml", "src/proctor/version.py",
    "tools/release/home.py", "tools/release/ready.py",
)  # fmt: skip
HOME = "somebody/proctor"
URL = f"https://github.com/{HOME}"
SCHEMAS = {
    "github-workflows": ".github/workflows/*.yml",
    "dependabot": ".github/dependabot.yml",
    "github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
    "github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
    "citation-file-format": "CITATION.cff",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the files that a release is about, as they are where the project has no home."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def tool(checkout: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(checkout / "tools/release" / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)


def settle(checkout: Path, home: str = HOME) -> None:
    written = tool(checkout, "home.py", home)
    assert written.returncode == 0, written.stderr


def test_one_command_writes_where_the_project_lives(checkout: Path) -> None:
    settle(checkout)
    urls = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]["urls"]
    assert urls["Repository"] == URL
    citation = yaml.safe_load((checkout / "CITATION.cff").read_text())
    assert citation["repository-code"] == URL
    readme = (checkout / "README.md").read_text()
    assert f"{URL}/actions/workflows/ci.yml/badge.svg" in readme
    assert f"git clone {URL} proctor" in readme
    assert readme.splitlines()[0] == "# proctor"
    assert "* @somebody\n" in (checkout / ".github/CODEOWNERS").read_text()
    choices = yaml.safe_load((checkout / ".github/ISSUE_TEMPLATE/config.yml").read_text())
    assert choices["contact_links"][0]["url"].startswith(URL)
    assert tool(checkout, "home.py", "--check").returncode == 0


def test_to_write_it_again_changes_nothing_and_a_move_changes_all(checkout: Path) -> None:
    settle(checkout)
    assert tool(checkout, "home.py", HOME).stdout == ""
    settle(checkout, "others/judge")
    for name in FILES[:4]:
        text = (checkout / name).read_text()
        assert HOME not in text, name
        assert "others/judge" in text, name


def test_a_file_that_was_not_written_is_noticed(checkout: Path) -> None:
    before = (checkout / "SECURITY.md").read_text()
    settle(checkout)
    (checkout / "SECURITY.md").write_text(before)
    checked = tool(checkout, "home.py", "--check")
    assert (checked.returncode, checked.stdout) == (1, "stale: SECURITY.md\n")


@pytest.mark.parametrize("name", ["proctor", "https://example.org/a/b", "a/b/c"])
def test_a_home_is_an_owner_and_a_name(checkout: Path, name: str) -> None:
    assert tool(checkout, "home.py", name).returncode == 2


def dated(checkout: Path, date: str, text: str = "- It judges.") -> None:
    section = f"# Changelog\n\n## [{proctor.__version__}] - {date}\n\n{text}\n\n## [0.0.1] - x\n\n- Old.\n"
    (checkout / "CHANGELOG.md").write_text(section)


def test_the_notes_of_a_release_are_its_section(checkout: Path) -> None:
    settle(checkout)
    dated(checkout, "2030-01-31")
    ready = tool(checkout, "ready.py", f"v{proctor.__version__}")
    assert (ready.returncode, ready.stdout, ready.stderr) == (0, "- It judges.\n", "")


def test_nothing_is_released_without_a_home_a_date_and_its_tag(checkout: Path) -> None:
    dated(checkout, "unreleased")
    ready = tool(checkout, "ready.py", "v9.9.9")
    assert (ready.returncode, ready.stdout) == (1, "")
    said = ready.stderr.splitlines()
    assert [bool(re.search(word, line)) for word, line in
            zip(("tag v", "YYYY-MM-DD", "home.py OWNER/NAME"), said, strict=True)] == [True] * 3  # fmt: skip


def metadata(checkout: Path) -> str:
    """What an index is told, by the builder itself."""
    for name in ("LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, checkout / name)
    (checkout / "src/proctor/__init__.py").touch()
    made = subprocess.run(
        [sys.executable, "setup.py", "--quiet", "egg_info"], cwd=checkout, capture_output=True,
        text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    return (checkout / "src/proctor.egg-info/PKG-INFO").read_text()


def test_an_index_is_told_the_version_and_links_that_work_there(checkout: Path) -> None:
    told = message_from_string(metadata(checkout))
    assert told["Version"] == proctor.__version__
    assert told["Project-URL"] is None
    settle(checkout)
    told = message_from_string(metadata(checkout))
    assert f"Repository, {URL}" in told.get_all("Project-URL")
    links = re.findall(r"\]\(([^)]*)\)", told.get_payload())
    assert f"{URL}/blob/HEAD/SECURITY.md" in links
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


def without(tool_missing: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "CC": tool_missing}
    command = [sys.executable, str(ROOT / "setup.py"), "build_ext", "--build-lib", str(tmp_path)]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_without_a_compiler_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    built = without("/nowhere/cc", tmp_path)
    assert built.returncode == 1
    assert built.stdout == ""
    (line,) = built.stderr.splitlines()
    assert "a C compiler (/nowhere/cc is not installed)" in line
    assert "apt install gcc libc6-dev python3-dev" in line


@pytest.mark.command("gcc")
def test_without_pythons_headers_too(tmp_path: Path) -> None:
    wrapped = tmp_path / "cc"
    wrapped.write_text('#!/bin/sh\nshift 3\nexec gcc -E "$@"\n')  # without -E -I DIRECTORY
    wrapped.chmod(0o755)
    built = without(str(wrapped), tmp_path)
    assert "C headers (Python.h was not found)" in built.stderr, built
    assert len(built.stderr.splitlines()) == 1


@pytest.mark.package("check-jsonschema")
@pytest.mark.parametrize("schema", SCHEMAS)
def test_what_others_read_is_as_they_want_it(schema: str) -> None:
    files = sorted(map(str, ROOT.glob(SCHEMAS[schema])))
    assert files
    checked = subprocess.run(
        [str(BIN / "check-jsonschema"), "--builtin-schema", f"vendor.{schema}", *files],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.package("zizmor")
def test_workflows_give_no_more_than_they_must() -> None:
    checked = subprocess.run(
        [str(BIN / "zizmor"), "--offline", "--quiet", "."], cwd=ROOT, capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout + checked.stderr
