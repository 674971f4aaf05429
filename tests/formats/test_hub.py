import hashlib
import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
import stamina

from fake_hub import LARGE, FakeHub, serving
from proctor.errors import InfraFault, InputError, UnsupportedPlatform
from proctor.formats.hub import HubSource, fetch
from proctor.formats.hub_client import ATTEMPTS, HubClient, worth_another
from proctor.formats.hub_configs import choose_files

CARD = b"""---
license: cc-by-4.0
configs:
- config_name: 2023
  data_files:
  - split: train
    path: 2023/train-*
- config_name: "2024"
  data_files: [{split: train, path: "2024/train-*"}, {split: test, path: ["2024/test-*"]}]
---
# Tests
"""
SMALL = b'{"a": 1}\n'
BIG = b"".join(b'{"number": %d}\n' % n for n in range(LARGE))
FILES = {
    "README.md": CARD,
    "2023/train-0.jsonl": SMALL,
    "2024/train-0.jsonl": BIG,
    "2024/test-0.jsonl": b'{"b": 2}\n',
    "2024/deep/train-9.jsonl": b'{"not": "of it"}\n',
    "2024/notes.txt": b"no table",
}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    with (
        serving(FakeHub({"us/tests": dict(FILES)})) as running,
        stamina.set_testing(True, attempts=ATTEMPTS),
    ):
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        monkeypatch.delenv("HF_TOKEN", raising=False)
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        yield running


def answering(body: str) -> Callable[[HubClient, str], httpx.Response]:
    def answer(_client: HubClient, url: str) -> httpx.Response:
        return httpx.Response(200, text=body, request=httpx.Request("GET", url))

    return answer


def content(source: str, cache: Path) -> list[bytes]:
    return [path.read_bytes() for path in fetch(HubSource.parse(source), cache=cache)]


def test_sources_are_parsed() -> None:
    assert HubSource.parse("hf:open-r1/ioi") == HubSource("open-r1/ioi", "main", None)
    assert HubSource.parse("hf:a/b.c@v1.0:2024") == HubSource("a/b.c", "v1.0", "2024")


@pytest.mark.parametrize(
    "text", ["hf:name", "hf:a/b/c", "hf:a/b@", "hf:a/b:", "open-r1/ioi", "hf:../x y"]
)
def test_other_sources_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="hf:OWNER/NAME"):
        HubSource.parse(text)


def test_a_configuration_of_all_splits_over_pages_and_redirects(
    hub: FakeHub, tmp_path: Path
) -> None:
    assert content("hf:us/tests:2024", tmp_path) == [FILES["2024/test-0.jsonl"], BIG]
    assert any(path.startswith("/cdn/") for path in hub.requests)


@pytest.mark.parametrize("size", ["1" + "0" * 400, "-1"])
def test_a_size_that_no_file_has_is_a_fault_of_the_hub(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: str
) -> None:
    entry = f'{{"type": "file", "path": "x.jsonl", "oid": "{"b" * 40}", "size": {size}}}'
    monkeypatch.setattr(HubClient, "_answer", answering(f"[{entry}]"))
    with HubClient() as client, pytest.raises(InfraFault, match="size"):
        client.files("us/tests", "a" * 40)


def test_the_head_of_a_card_is_found_in_linear_time(ends: None) -> None:
    for card in ("---" + "\n" * 1_000_000, "---" + " \n" * 500_000, "---\n" + "--- x\n" * 200_000):
        assert choose_files(card, ["a.jsonl"], None, "it") == ["a.jsonl"]


@pytest.mark.parametrize("blank", ["", " ", "\r", "\n\n", "\t\n"])
def test_blanks_about_the_head_of_a_card(blank: str) -> None:
    head = "configs: [{config_name: b, data_files: b.jsonl}]"
    card = f"---{blank}\n{head}\n---{blank}\n# Tests\n---\n"
    assert choose_files(card, ["a.jsonl", "b.jsonl"], "b", "it") == ["b.jsonl"]


def test_a_name_of_digits_in_yaml_is_a_name(hub: FakeHub, tmp_path: Path) -> None:
    assert content("hf:us/tests:2023", tmp_path) == [SMALL]


def test_the_second_time_nothing_is_fetched_again(hub: FakeHub, tmp_path: Path) -> None:
    content("hf:us/tests:2024", tmp_path)
    hub.requests.clear()
    content("hf:us/tests:2024", tmp_path)
    assert hub.requests == ["/api/datasets/us/tests/revision/main"]
    hub.requests.clear()
    content(f"hf:us/tests@{hub.commit}:2024", tmp_path)
    assert hub.requests == []


def test_offline_the_cache_is_enough(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content("hf:us/tests:2024", tmp_path)
    hub.requests.clear()
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert content("hf:us/tests:2024", tmp_path)[1] == BIG
    with pytest.raises(InputError, match="not in the cache"):
        content("hf:us/tests:2023", tmp_path)
    with pytest.raises(InputError, match="not in the cache"):
        content("hf:us/other", tmp_path)
    assert hub.requests == []


def test_a_hub_out_of_reach_is_done_without(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    content("hf:us/tests:2024", tmp_path)
    hub.faults = Counter({"503": 1000})
    with caplog.at_level(logging.WARNING):
        assert content("hf:us/tests:2024", tmp_path)[1] == BIG
    assert "going on with what" in caplog.text
    with pytest.raises(InfraFault, match="503"):
        content("hf:us/tests:2023", tmp_path / "empty")


def test_no_server_at_all_is_a_fault_of_infrastructure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(FakeHub({})) as gone:
        pass
    monkeypatch.setenv("HF_ENDPOINT", gone.url)
    with (
        stamina.set_testing(True, attempts=2),
        pytest.raises(InfraFault, match="cannot be reached"),
    ):
        content("hf:us/tests", tmp_path)


def test_too_many_requests_and_errors_are_waited_out(hub: FakeHub, tmp_path: Path) -> None:
    hub.faults = Counter({"429": 2, "503": 2})
    assert content("hf:us/tests:2024", tmp_path)[1] == BIG
    assert not hub.faults.total()


def test_a_truncated_body_is_gone_on_with(hub: FakeHub, tmp_path: Path) -> None:
    content("hf:us/tests:2023", tmp_path)
    hub.faults = Counter({"truncated": 3})
    assert content("hf:us/tests:2024", tmp_path)[1] == BIG
    assert f"bytes={len(BIG) // 2}-" in hub.ranges


def test_what_a_killed_process_left_is_gone_on_with(hub: FakeHub, tmp_path: Path) -> None:
    path = fetch(HubSource.parse("hf:us/tests:2024"), cache=tmp_path)[1]
    part = path.parent / f"sha256-{hashlib.sha256(BIG).hexdigest()}.part"
    path.unlink()
    part.write_bytes(BIG[:777])
    assert content("hf:us/tests:2024", tmp_path)[1] == BIG
    assert hub.ranges == ["bytes=777-"]
    assert not part.exists()


def test_wrong_content_is_fetched_again_and_never_kept(hub: FakeHub, tmp_path: Path) -> None:
    content("hf:us/tests:2023", tmp_path)
    hub.faults = Counter({"garbled": 1})
    assert content("hf:us/tests:2024", tmp_path)[1] == BIG
    hub.faults = Counter({"garbled": 1000})
    with pytest.raises(InfraFault, match="not the content that the hub promised"):
        content("hf:us/tests:2023", tmp_path / "other")


def test_a_cached_file_that_has_changed_is_fetched_again(hub: FakeHub, tmp_path: Path) -> None:
    path = fetch(HubSource.parse("hf:us/tests:2024"), cache=tmp_path)[1]
    path.write_bytes(b"tampered")
    assert content("hf:us/tests:2024", tmp_path)[1] == BIG


def test_what_is_not_there(hub: FakeHub, tmp_path: Path) -> None:
    for source, said in (
        ("hf:us/nothing", "has no us/nothing"),
        ("hf:us/tests@v9", "or not at this revision"),
        ("hf:us/tests:1999", "no configuration '1999'; it has 2023, 2024"),
        ("hf:us/tests", "several configurations; add one of :2023, 2024"),
    ):
        with pytest.raises(InputError, match=said):
            content(source, tmp_path)


def test_without_a_list_directories_are_configurations(hub: FakeHub, tmp_path: Path) -> None:
    hub.sets["us/plain"] = {"a/x.jsonl": SMALL, "data/b/y.jsonl": b"{}\n"}
    assert content("hf:us/plain:a", tmp_path) == [SMALL]
    assert content("hf:us/plain:b", tmp_path) == [b"{}\n"]
    assert content("hf:us/plain", tmp_path) == [SMALL, b"{}\n"]


def test_the_token_goes_to_the_hub_and_no_further(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    content("hf:us/tests:2024", tmp_path)
    seen = dict(hub.authorised)
    assert seen["api"] == "Bearer hf_secret"
    assert seen["cdn"] is None


def test_the_token_does_not_go_where_the_next_page_is_said_to_be(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    hub.faults["astray"] = 1
    assert content("hf:us/tests:2024", tmp_path)
    assert ("strangers", None) in hub.authorised
    assert ("strangers", "Bearer hf_secret") not in hub.authorised


@pytest.mark.parametrize("name", ["2024/train-\0.jsonl", f"2024/train-{'a' * 300}.jsonl"])
def test_a_name_that_no_file_can_have_is_a_fault_of_the_hub(
    name: str, hub: FakeHub, tmp_path: Path
) -> None:
    hub.sets["us/tests"][name] = SMALL
    with pytest.raises(InfraFault, match="the hub names a file '2024/train-"):
        content("hf:us/tests:2024", tmp_path)


def test_the_server_says_how_long_to_wait() -> None:
    request = httpx.Request("GET", "http://hub/")

    def failed(status: int, **headers: str) -> httpx.HTTPStatusError:
        answer = httpx.Response(status, headers=headers, request=request)
        return httpx.HTTPStatusError("no", request=request, response=answer)

    assert worth_another(failed(429, **{"retry-after": "17"})) == 17.0
    assert worth_another(failed(429, **{"retry-after": "86400"})) is False
    assert worth_another(failed(503)) is True
    assert worth_another(failed(404)) is False
    assert worth_another(httpx.ReadTimeout("slow")) is True


def test_without_the_extra_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    monkeypatch.delitem(sys.modules, "proctor.formats.hub_client")
    with pytest.raises(UnsupportedPlatform, match=r"needs httpx: pip install 'proctor\[eval\]'"):
        content("hf:us/tests", tmp_path)


def test_who_waits_for_much_is_told_how_much(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("proctor.formats.hub.TOLD", len(BIG))
    content("hf:us/tests:2023", tmp_path)
    assert caplog.messages == []
    content("hf:us/tests:2024", tmp_path)
    assert caplog.messages == ["fetching 2 files, 0.0 GiB, of hf:us/tests@main:2024"]
    content("hf:us/tests:2024", tmp_path)  # all of it is there
    assert len(caplog.messages) == 1
