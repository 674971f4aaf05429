"""A server of verdicts: shared, down, full of strangers' entries; its password is never told."""

from collections.abc import Callable

import pytest
from cache_parts import CountedJudges, HeldJudges, Server, made

from proctor import JudgeSettings, Problem, Test
from proctor.errors import InfraFault, InputError, Unauthorized, Unreachable
from proctor.judging.cache import CacheTally, open_cached
from proctor.judging.cache.redis_store import KEPT_FOR, RedisStore
from proctor.judging.cache.sealing import SECRET_VARIABLE, VerdictSeal
from proctor.verdict import Verdict
from waiting import PATIENCE

pytestmark = pytest.mark.redis
PROBLEM = Problem("double", (Test("2\n", "4\n"),))
PROGRAM = "print(int(input()) * 2)"
KEY, OTHER = b"\1" * 32, b"\2" * 32
PASSWORD = "p@ss/w:rd"
QUOTED = "p%40ss%2Fw%3Ard"
NOBODY = "127.0.0.1:1"  # a port that needs root, where nobody listens


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, "0123456789abcdef")


@pytest.fixture(autouse=True)
def no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)


def test_entries_are_kept_replaced_and_dropped(server: Server) -> None:
    store, other = RedisStore(server.url), RedisStore(server.url)
    assert store.get(KEY) is None
    store.put(KEY, b"\0\xff")
    store.put(KEY, b"again\r\n")
    assert (other.get(KEY), other.get(OTHER)) == (b"again\r\n", None)
    other.drop(KEY)
    other.drop(OTHER)
    assert store.get(KEY) is None
    store.close()
    other.close()


def test_an_entry_that_is_used_is_kept(server: Server) -> None:
    store = RedisStore(server.url)
    store.put(KEY, b"entry")
    with server.client() as client:
        (name,) = client.keys()
        assert KEPT_FOR - 60 < client.ttl(name) <= KEPT_FOR
        client.expire(name, 100)
        assert store.get(KEY) == b"entry"
        assert client.ttl(name) > 100
    store.close()


def test_two_that_share_a_server_judge_once(
    server: Server, counted: CountedJudges, secret: None, caplog: pytest.LogCaptureFixture
) -> None:
    for hits in (0, 1):
        with open_cached(counted, server.url) as judges:
            assert judges.start(PROBLEM, PROGRAM, JudgeSettings()).result().passed
            assert judges.tally.hits == hits
            assert judges.tally.store == server.url
    assert len(counted.asked) == 1
    assert not caplog.records


def test_without_a_secret_it_is_said_once(
    server: Server, counted: CountedJudges, caplog: pytest.LogCaptureFixture
) -> None:
    with open_cached(counted, server.url) as judges:
        judges.start(PROBLEM, PROGRAM, JudgeSettings()).result()
        assert judges.start(PROBLEM, PROGRAM, JudgeSettings()).result().remembered
    assert len(caplog.records) == 1
    assert SECRET_VARIABLE in caplog.text


def test_strangers_entries_are_not_believed(server: Server, held: HeldJudges, secret: None) -> None:
    """Whoever can write to the server puts an AC in the place of a WA."""
    with open_cached(held, server.url) as judges:
        judges.start(PROBLEM, PROGRAM, JudgeSettings())
        held.started[0].set_result(made(Verdict.WA))
    with server.client() as client:
        (name,) = client.keys()
        key, before = bytes.fromhex(name.decode().rpartition(":")[2]), client.get(name)
    forged = [VerdictSeal(each).closed(key, made()) for each in (None, b"fedcba9876543210")]
    for number, entry in enumerate(
        (*forged, before[:-1], before + b"\0", b"", before.replace(b"WA", b"AC")), start=1
    ):
        with server.client() as client:
            client.set(name, entry)
        with open_cached(held, server.url) as judges:
            judges.start(PROBLEM, PROGRAM, JudgeSettings())
            assert judges.tally.rejected == 1
            assert len(held.started) == number + 1
    with server.client() as client:
        client.set(name, before)
    with open_cached(held, server.url) as judges:
        found = judges.start(PROBLEM, PROGRAM, JudgeSettings()).result(timeout=PATIENCE)
        assert found.verdict is Verdict.WA


def test_a_name_that_holds_something_else_is_a_failure(
    server: Server, held: HeldJudges, secret: None, caplog: pytest.LogCaptureFixture
) -> None:
    with open_cached(held, server.url) as judges:
        judges.start(PROBLEM, PROGRAM, JudgeSettings())
        held.started[0].set_result(made())
    with server.client() as client:
        (name,) = client.keys()
        client.delete(name)
        client.lpush(name, "a list")
    with open_cached(held, server.url) as judges:
        future = judges.start(PROBLEM, PROGRAM, JudgeSettings())
        held.started[1].set_result(made())
        assert future.result(timeout=PATIENCE).passed
        assert judges.tally.failures == 1
    assert "judging goes on without the cache" in caplog.text


def test_a_server_that_goes_away_costs_no_judgement(
    server: Server, held: HeldJudges, secret: None, caplog: pytest.LogCaptureFixture
) -> None:
    programs = [f"print({number})" for number in range(5)]

    def judged(judges: object, program: str) -> bool:
        future = judges.start(PROBLEM, program, JudgeSettings())  # type: ignore[attr-defined]
        if not future.done():
            held.started[-1].set_result(made())
        return bool(future.result(timeout=PATIENCE).remembered)

    with open_cached(held, server.url) as judges:
        assert not any(judged(judges, each) for each in programs[:2])
        server.kill()
        assert not any(judged(judges, each) for each in programs)
        assert judges.tally.failures == 1  # it is left alone for a minute
        assert len(caplog.records) == 1
        server.start()  # and it has forgotten all
        judges._remembered._until = 0.0  # type: ignore[union-attr]  # the pause is over
        assert not any(judged(judges, each) for each in programs)
        assert all(judged(judges, each) for each in programs)
    assert len(caplog.records) == 1


def test_a_server_that_is_not_there_is_an_error_at_once(held: HeldJudges) -> None:
    with (
        pytest.raises(Unreachable, match=f"redis://{NOBODY}/0 cannot be used") as raised,
        open_cached(held, f"redis://james:{QUOTED}@{NOBODY}"),
    ):
        pass
    assert_nothing_told(raised.value)


def assert_nothing_told(error: BaseException) -> None:
    import traceback

    told = "".join(traceback.format_exception(error))
    assert PASSWORD not in told
    assert QUOTED not in told
    assert "james" not in told


@pytest.mark.parametrize("given", ["", "wrong", f"{QUOTED}x"])
def test_a_wrong_password_is_refused(
    given: str, server_with_password: Callable[[str], Server], held: HeldJudges
) -> None:
    server = server_with_password(PASSWORD)
    credentials = f":{given}@" if given else ""
    url = f"redis://{credentials}127.0.0.1:{server.port}"
    with (
        pytest.raises(Unauthorized, match="is the password right") as raised,
        open_cached(held, url),
    ):
        pass
    assert "wrong" not in str(raised.value).replace("WRONGPASS", "")
    assert_nothing_told(raised.value)


def test_the_right_password_is_told_nowhere(
    server_with_password: Callable[[str], Server], held: HeldJudges, secret: None,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    server = server_with_password(PASSWORD)
    tally = CacheTally()
    with open_cached(held, f"redis://:{QUOTED}@127.0.0.1:{server.port}", tally=tally) as judges:
        future = judges.start(PROBLEM, PROGRAM, JudgeSettings())
        held.started[0].set_result(made())
        assert future.result(timeout=PATIENCE).passed
        assert tally.kept == 1
        server.kill()
        judges.start(PROBLEM, PROGRAM, JudgeSettings())
    assert caplog.records
    for told in (caplog.text, str(tally), repr(tally), repr(tally.to_json()), repr(judges)):
        assert PASSWORD not in told
        assert QUOTED not in told


@pytest.mark.parametrize(
    "url",
    [
        f"redis://:{PASSWORD}@host:6379", f"redis://:{QUOTED}@", f"redis://:{QUOTED}@host:port",
        f"redis://:{QUOTED}@host:99999999", f"redis://:{QUOTED}@[::1", f"redis://{QUOTED}@/0",
        f"rediss://:{QUOTED}@host/0?ssl_check_hostname=perhaps", f"redis://{NOBODY}/{QUOTED}",
    ],
)  # fmt: skip
def test_addresses_that_are_none_are_not_repeated(url: str) -> None:
    with pytest.raises((InputError, InfraFault)) as raised:
        RedisStore(url)
    assert_nothing_told(raised.value)


@pytest.mark.parametrize("where", ["http://host", "memcached://:p4ssw0rd@host", "unix:///run/a"])
def test_other_servers_are_refused(where: str, held: HeldJudges) -> None:
    with pytest.raises(InputError, match="is a directory, or a server at redis://") as raised:
        open_cached(held, where).__enter__()
    assert "p4ssw0rd" not in str(raised.value)


def test_a_short_secret_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, "short")
    with pytest.raises(InputError, match="at least 16"):
        open_cached(HeldJudges(), server.url).__enter__()
