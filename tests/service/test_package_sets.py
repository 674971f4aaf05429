"""Package sets of an engine: which are open, which are closed for others, and what is a fault."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import InfraFault, InputError, SettingsError
from proctor.languages.run import RunRequest
from proctor.program import Program
from proctor.service.admission import RequestContext
from proctor.service.engine import Engine, open_engine
from proctor.service.package_sets import MOST_OPEN, PackageSet

NAMES = [f"set{n}" for n in range(MOST_OPEN + 2)]
ASK = Program("import which; print(which.name)")
ME = RequestContext(unlimited=True)


def sets(place: Path) -> dict[str, PackageSet]:
    for name in NAMES:
        (place / name).mkdir()
        (place / name / "which.py").write_text(f"name = {name!r}")
    return {name: PackageSet((str(place / name),)) for name in NAMES}


def with_engine(place: Path, use: Callable[[Engine], Coroutine[Any, Any, None]]) -> None:
    async def body() -> None:
        async with open_engine(cells=2, sessions=2, package_sets=sets(place)) as engine:
            await use(engine)

    asyncio.run(body())


async def said(engine: Engine, name: str) -> str:
    ran = await engine.run(RunRequest(ASK, packages=name), ME)
    assert ran.execution is not None
    return ran.execution.stdout.decode().strip()


@pytest.mark.slow
def test_those_not_used_for_long_are_closed(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        opened = engine.package_sets
        assert opened.open == ()
        session = await engine.sessions.open(ME, packages=NAMES[0])
        for name in NAMES[1:]:
            assert await said(engine, name) == name
            assert len(opened.open) <= MOST_OPEN
        # The one that a session is in stays, though it is the one asked for first.
        assert opened.open == (NAMES[0], *NAMES[-MOST_OPEN + 1 :])
        made = (await session.run_cell("import which; which.name", ME)).made
        assert getattr(made, "result", None) == repr(NAMES[0])
        await engine.sessions.close("", session.id)
        assert await said(engine, NAMES[1]) == NAMES[1]
        assert NAMES[0] not in opened.open
        assert len(opened.open) == MOST_OPEN

    with_engine(tmp_path, use)


@pytest.mark.slow
def test_many_at_once_get_the_one_they_named(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        asked = NAMES * 4
        assert await asyncio.gather(*(said(engine, name) for name in asked)) == asked
        assert len(engine.package_sets.open) <= MOST_OPEN

    with_engine(tmp_path, use)


@pytest.mark.slow
def test_whoever_gives_up_leaves_no_set_in_use(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        for name in NAMES:
            job = asyncio.ensure_future(said(engine, name))
            while not engine.admission.running:
                await asyncio.sleep(0)
            job.cancel()
            await asyncio.wait({job})
        for name in NAMES:
            assert await said(engine, name) == name
        assert len(engine.package_sets.open) == MOST_OPEN
        assert {each.users for each in engine.package_sets._open.values()} == {0}

    with_engine(tmp_path, use)


def test_what_is_wrong_with_a_set_is_no_matter_of_the_program(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        (tmp_path / NAMES[0] / "which.py").unlink()
        (tmp_path / NAMES[0]).rmdir()
        with pytest.raises(InfraFault, match="set0"):
            await said(engine, NAMES[0])
        with pytest.raises(InputError, match=f"there are: {', '.join(NAMES)}"):
            await said(engine, str(tmp_path / NAMES[1]))
        assert await said(engine, NAMES[1]) == NAMES[1]

    with_engine(tmp_path, use)
    with pytest.raises(InputError, match="not a directory"):
        open_engine(package_sets={"a": PackageSet((str(tmp_path / NAMES[0]),))})
    with pytest.raises(SettingsError, match="a/b"):
        open_engine(package_sets={"a/b": PackageSet((str(tmp_path),))})
