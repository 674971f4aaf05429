"""The command in this process: its SDK takes a second to import, which is paid once."""

import os
import signal
import sys
from pathlib import Path

import pytest
from proctor_command import Done, Proctor

from proctor.cli.main import main

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))


@pytest.fixture
def proctor(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Proctor:
    """Run the command to its end, as a shell would see it."""

    def run(*arguments: str | Path, env: dict[str, str] | None = None) -> Done:
        before = signal.getsignal(signal.SIGTERM)
        with monkeypatch.context() as patch:
            for name in list(os.environ):
                if name.startswith(("PROCTOR_", "OPENAI_", "MODEL_ID")):
                    patch.delenv(name)
            for name, value in ({"NO_COLOR": "1", "COLUMNS": "200"} | (env or {})).items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["proctor", *map(str, arguments)])
            capfd.readouterr()
            with pytest.raises(SystemExit) as ended:
                main()
            signal.signal(signal.SIGTERM, before)
        said = capfd.readouterr()
        return Done(int(ended.value.code or 0), said.out, said.err)

    return run
