"""`proctor serve`: what is typed goes above the configuration file, and what is wrong is said."""

from pathlib import Path

import pytest

from proctor.cli import serve
from proctor.errors import InputError, SettingsError, UsageError
from proctor.limits import MIB
from proctor.service.http.settings import read_tokens


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("PROCTOR_CONFIG", raising=False)
    place = tmp_path / "config.toml"
    place.write_text('[serve]\nport = 1234\nmax_body = "1M"\npreload = ["math"]\n')
    monkeypatch.setenv("PROCTOR_CONFIG", "")  # so that what use_config sets is taken back
    serve.use_config(str(place))
    return place


def test_the_file_says_what_is_not_typed(config: Path) -> None:
    found = serve.configured(None, None, None, None, host=None, port=None, sessions=3)
    assert (found.port, found.most_body, found.preload) == (1234, MIB, ("math",))
    assert (found.host, found.sessions, found.most_waiting) == ("127.0.0.1", 3, 10_000)


def test_what_is_typed_goes_above_it(config: Path) -> None:
    found = serve.configured(None, "2M", None, ["json"], port=0)
    assert (found.port, found.most_body, found.preload) == (0, 2 * MIB, ("json",))


def test_what_is_typed_is_meant_if_it_is_empty(config: Path) -> None:
    with pytest.raises(InputError, match="--max-body"):
        serve.configured(None, "", None, None)
    with pytest.raises(InputError, match="--token-file"):
        serve.configured("", None, None, None)


def test_what_the_file_says_wrongly_is_named(config: Path) -> None:
    config.write_text("[serve]\nprot = 1\n")
    with pytest.raises(InputError, match="prot"):
        serve.configured(None, None, None, None)


def test_a_server_for_everybody_needs_tokens(config: Path, tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::", "example.org"):
        with pytest.raises(SettingsError, match="--token-file"):
            serve.configured(None, None, None, None, host=host)
    tokens = tmp_path / "tokens"
    tokens.write_text("ann:0123456789abcdef\n")
    tokens.chmod(0o600)
    found = serve.configured(str(tokens), None, None, None, host="0.0.0.0")
    assert found.tokens.name("0123456789abcdef") == "ann"


@pytest.mark.parametrize(
    ("text", "line"),
    [("ann\n", 1), ("# all\nann:short\n", 2), ("a:0123456789abcdef\nb:0123456789abcdef\n", 2)],
)
def test_a_line_of_tokens_that_is_none_is_named(tmp_path: Path, text: str, line: int) -> None:
    place = tmp_path / "tokens"
    place.write_text(text)
    place.chmod(0o600)
    with pytest.raises(InputError) as caught:
        read_tokens(str(place))
    assert caught.value.line == line


def test_tokens_that_others_may_read_are_refused(tmp_path: Path) -> None:
    place = tmp_path / "tokens"
    place.write_text("ann:0123456789abcdef\n")
    place.chmod(0o644)
    with pytest.raises(UsageError, match="chmod 600"):
        read_tokens(str(place))
