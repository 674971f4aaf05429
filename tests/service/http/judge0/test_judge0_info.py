"""Judge0's routes that tell about the server and about all of one's submissions."""

import httpx
import pytest
from judge0_client import BOB, PYTHON, judged

from served import Served
from waiting import PATIENCE


def test_versions(ann: httpx.Client) -> None:
    assert ann.get("/version").text == "1.13.1"
    assert ann.get("/judge0-extra/version").text == "1.13.1-extra"
    assert ann.get("/about").json().keys() == {"version", "homepage", "source_code", "maintainer"}
    assert "Apache" in ann.get("/license").text
    assert ann.get("/isolate").text.startswith("proctor ")


@pytest.mark.parametrize("route", ["/authenticate", "/authorize"])
def test_tokens_are_told_apart(server: Served, ann: httpx.Client, route: str) -> None:
    assert ann.post(route).status_code == 200
    for headers in ({}, {"X-Auth-Token": "other"}):
        refused = httpx.post(server.url + route, headers=headers, timeout=PATIENCE)
        assert refused.status_code == 401


def test_languages(ann: httpx.Client) -> None:
    names = {each["id"]: each for each in ann.get("/languages/all").json()}
    assert not names[PYTHON]["is_archived"]
    assert names[42] == {"id": 42, "name": "Rust (1.20.0)", "is_archived": True}
    assert 42 not in {each["id"] for each in ann.get("/languages").json()}
    compiled = ann.get("/languages/50").json()
    assert (compiled["source_file"], compiled["is_archived"]) == ("main.c", False)
    assert "-O2" in compiled["compile_cmd"]
    assert ann.get("/languages/999").status_code == 404


def test_everyone_counts_and_lists_only_their_own(server: Served, ann: httpx.Client) -> None:
    before = ann.get("/statistics").json()
    tokens = [judged(ann, f"print({number})")["token"] for number in range(3)]
    after = ann.get("/statistics").json()
    assert after["submissions"]["total"] == before["submissions"]["total"] + 3
    assert after["submissions"]["total"] == after["submissions"]["today"]
    assert len(after["submissions"]["last_30_days"]) == 30
    python = next(each for each in after["languages"] if each["language"]["id"] == PYTHON)
    assert python["count"] >= 3
    assert after["statuses"][0]["status"].keys() == {"id", "name"}
    pages = [
        ann.get("/submissions", params={"page": page, "per_page": 2, "fields": "token"}).json()
        for page in (1, 2)
    ]
    listed = [each["token"] for page in pages for each in page["submissions"]]
    assert listed[:3] == tokens[::-1]
    assert pages[0]["meta"]["next_page"] == 2
    assert pages[1]["meta"]["prev_page"] == 1
    assert ann.get("/submissions?page=0").json() == {"error": "invalid page: 0"}
    with server.client(BOB) as bob:
        assert bob.get("/statistics").json()["submissions"]["total"] == 0
        assert bob.get("/submissions").json()["meta"]["total_count"] == 0
