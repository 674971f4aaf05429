"""Lists of servers: URLs, names with several addresses, files; what changes, and what is none."""

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from proctor.clients.server_list import LOOK_UP_EVERY, ServerList, shown
from proctor.errors import InputError, ProctorError, Unreachable, UsageError


def read(servers: ServerList, now: float = 0.0) -> list[str]:
    return asyncio.run(servers.read(now))


def test_urls_with_commas_or_as_a_list() -> None:
    wanted = ["http://a:1", "https://b/p"]
    assert read(ServerList("http://a:1/, https://b/p,,http://a:1")) == wanted
    assert read(ServerList(wanted)) == wanted
    assert not ServerList(wanted).may_change


def test_a_name_is_looked_up_again_after_a_while() -> None:
    found = [["10.0.0.2", "10.0.0.1", "10.0.0.1"], ["10.0.0.2", "fd00::7"]]
    asked = []

    async def look_up(name: str, port: int) -> Iterable[str]:
        asked.append((name, port))
        return found[len(asked) - 1]

    servers = ServerList("dns+http://u:p@workers:8377,http://a", look_up)
    assert servers.may_change
    first = ["http://u:p@10.0.0.1:8377", "http://u:p@10.0.0.2:8377", "http://a"]
    assert read(servers) == first
    assert read(servers, LOOK_UP_EVERY - 1) == first
    then = ["http://u:p@10.0.0.2:8377", "http://u:p@[fd00::7]:8377", "http://a"]
    assert read(servers, LOOK_UP_EVERY) == then
    assert asked == [("workers", 8377)] * 2


def test_a_name_that_has_no_addresses_for_now_keeps_those_it_had() -> None:
    gone = False

    async def look_up(_name: str, _port: int) -> Iterable[str]:
        if gone:
            raise OSError(-3, "Temporary failure in name resolution")
        return ["10.0.0.1"]

    servers = ServerList("dns+http://workers:1", look_up)
    assert read(servers) == ["http://10.0.0.1:1"]
    gone = True
    assert read(servers, LOOK_UP_EVERY) == ["http://10.0.0.1:1"]
    with pytest.raises(Unreachable, match=r"workers:1: Temporary failure"):
        read(ServerList("dns+http://workers:1", look_up))


def test_localhost_is_a_name_too() -> None:
    assert "http://127.0.0.1:5" in read(ServerList("dns+http://localhost:5"))
    with pytest.raises(Unreachable, match=r"nobody\.invalid"):
        read(ServerList("dns+http://nobody.invalid:5"))


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "servers"
    file.write_text("# ours\nhttp://a:1\n\n  http://b:1  \n")
    servers = ServerList(f"@{file},http://c")
    assert read(servers) == ["http://a:1", "http://b:1", "http://c"]
    file.write_text("http://b:1\nno server\n")
    with pytest.raises(InputError, match=r"servers, line 2"):
        read(servers)
    assert read(servers) == ["http://a:1", "http://b:1", "http://c"]  # as it was, and said once
    aside = tmp_path / "new"
    aside.write_text("http://b:2\n")
    os.replace(aside, file)
    assert read(servers) == ["http://b:2", "http://c"]
    file.unlink()
    with pytest.raises(InputError, match="servers"):
        read(servers)
    with pytest.raises(InputError, match="servers"):
        ServerList(f"@{file}")


@pytest.mark.parametrize(
    "wrong",
    ["", ",", "a", "a:1", "ftp://a", "http://", "http://a:x", "http://a:0", "http://a?b", "http://a#b",
     "http://a b", "http://[::1", "dns+https://a", "dns+http://a/p", "@", "daemon:", "http://a:99999"],
)  # fmt: skip
def test_what_is_no_server_is_refused(wrong: str) -> None:
    with pytest.raises((UsageError, InputError)):
        ServerList(wrong)


def test_a_token_in_a_url_is_not_shown() -> None:
    assert shown("http://any:secret@a:1/p") == "http://a:1/p"
    assert shown("http://a:1/p@q") == "http://a:1/p@q"
    assert shown("daemon:") == "daemon:"
    with pytest.raises(ProctorError) as raised:
        ServerList("ftp://any:secret@a")
    assert "secret" not in str(raised.value)
    with pytest.raises(InputError):
        ServerList([5])  # type: ignore[list-item]
