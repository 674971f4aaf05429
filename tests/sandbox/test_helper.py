"""Helper processes: what they import is ours, wherever they are started."""

from pathlib import Path

import pytest

from proctor.sandbox.helper import Helper

pytestmark = pytest.mark.user


def test_modules_of_the_working_directory_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be a stranger's, and root's helpers would run his code."""
    ran = tmp_path / "ran"
    for name in ("json", "struct", "ast", "msgspec", "proctor"):
        (tmp_path / f"{name}.py").write_text(
            f"open({str(ran)!r}, 'w').write({name!r})\nraise SystemExit\n"
        )
    monkeypatch.chdir(tmp_path)
    helper = Helper("proctor.languages.python_parser")
    try:
        assert helper.ask(["matching", "a+", "aa", "b"], 30) == ["aa"]
    finally:
        helper.close()
    assert not ran.exists()
