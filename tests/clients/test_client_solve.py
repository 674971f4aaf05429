"""Solvers through every client: the same results, incumbents, and ends."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from packing import BEST, BROKEN, CP_SAT, FOREVER, GIVEN, PLAIN, text
from proctor.clients import Client, Envelope, Incumbent, connect, connect_async
from proctor.errors import Cancelled, InputError
from proctor.service.http.native.schema import SolveRequestJson
from proctor.solver.envelope import Partial, SolveAnswer
from proctor.solver.report import ValidationReport, Violation
from served import serving
from waiting import PATIENCE

pytestmark = pytest.mark.namespaces

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", params=["local:", "daemon:", "http:"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param != "http:":
        yield request.param
        return
    with serving("--cells", "2") as served:
        yield served.url


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[Client]:
    with connect(url) as client:
        yield client


def test_typescript_has_the_same_fields() -> None:
    source = (ROOT / "clients/typescript/src/solving.ts").read_text("utf-8")
    for name, struct in (
        ("SolveRequest", SolveRequestJson), ("Incumbent", Incumbent), ("PartialSolution", Partial),
        ("SolveAnswer", SolveAnswer),
        ("Validation", ValidationReport), ("Violation", Violation), ("Envelope", Envelope),
    ):  # fmt: skip
        body = source.partition(f"export interface {name} {{\n")[2].partition("\n}\n")[0]
        assert re.findall(r"^  (\w+)\??:", body, re.MULTILINE) == list(
            struct.__struct_encode_fields__
        )


@pytest.mark.slow
def test_a_solution(client: Client) -> None:
    heard: list[Incumbent] = []
    found = client.solve(CP_SAT, GIVEN, "packing", timeout=60, on_incumbent=heard.append)
    assert isinstance(found, Envelope)
    assert (found.status, found.accepted) == ("optimal", True)
    assert found.validation is not None
    assert found.validation.objective == BEST
    assert tuple(heard) == found.incumbents
    assert client.solve(PLAIN, text().encode(), "packing").accepted is True


def test_the_answer_is_the_valid_one(client: Client) -> None:
    found = client.solve(BROKEN, GIVEN, "packing")
    assert (found.accepted, found.status_detail) == (True, "incumbent")
    assert found.result_data["bins"] == [["a", "b", "c"]]
    expected = {"status": "FEASIBLE", "bins": [["a", "b"], ["c"]], "objective": 2}
    assert found.answer == SolveAnswer(expected, "incumbent", 2.0, True)


def test_what_is_wrong_with_a_request(client: Client) -> None:
    with pytest.raises(InputError, match="profile"):
        client.solve(PLAIN, GIVEN, "no such")
    with pytest.raises(InputError, match="color"):
        client.solve(PLAIN, GIVEN, "packing", color="red")
    with pytest.raises(InputError, match="plain data"):
        client.solve(PLAIN, object(), "packing")


@pytest.mark.slow
def test_incumbents_come_before_the_end_and_leaving_ends_it(client: Client) -> None:
    for each in client.solve_stream(FOREVER, GIVEN, "packing", timeout=600):
        assert isinstance(each, Incumbent)
        assert each.objective == 3.0
        break
    *incumbents, found = client.solve_stream(FOREVER, GIVEN, "packing", timeout=3)
    assert [each.file for each in incumbents if isinstance(each, Incumbent)] == ["inc_1.json"]
    assert isinstance(found, Envelope)
    assert (found.status, found.partial.valid) == ("timeout", True)


@pytest.mark.slow
def test_called_off_by_another(url: str) -> None:
    async def both() -> None:
        async with connect_async(url) as client:
            begun = asyncio.Event()
            solving = asyncio.ensure_future(
                client.solve(
                    FOREVER, GIVEN, "packing", timeout=600, id="mine",
                    on_incumbent=lambda _: begun.set(),
                )
            )  # fmt: skip
            await begun.wait()
            assert await client.cancel("mine") is True
            with pytest.raises(Cancelled):
                await solving
            found = await client.solve(PLAIN, GIVEN, "packing")
            assert found.accepted is True

    asyncio.run(asyncio.wait_for(both(), PATIENCE))
