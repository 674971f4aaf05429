"""Whom a request goes to, and for how long an endpoint that failed is left alone."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.endpoints import LONGEST_PAUSE, Endpoints, EndpointTurn
from proctor.errors import UsageError


def of(**listed: int) -> Endpoints:
    endpoints = Endpoints()
    endpoints.replace(listed, 0.0)
    return endpoints


def taken(endpoints: Endpoints, now: float = 0.0, avoid: tuple[str, ...] = ()) -> EndpointTurn:
    turn = endpoints.take(now, avoid)
    assert turn is not None
    return turn


def test_the_least_loaded_and_of_equals_by_turns() -> None:
    endpoints = of(a=2, b=2)
    first = taken(endpoints)
    assert {first.endpoint, taken(endpoints).endpoint} == {"a", "b"}
    endpoints.succeeded(first)
    assert taken(endpoints).endpoint == first.endpoint
    assert Counter(taken(endpoints).endpoint for _ in range(2)) == {"a": 1, "b": 1}
    assert endpoints.take(0.0) is None, "all are busy"
    idle = of(a=1, b=1, c=1)
    order = []
    for _ in range(6):
        turn = taken(idle)
        order.append(turn.endpoint)
        idle.succeeded(turn)
    assert order == ["a", "b", "c"] * 2


def test_load_is_a_share_of_what_an_endpoint_takes_at_once() -> None:
    endpoints = of(small=1, large=4)
    assert Counter(taken(endpoints).endpoint for _ in range(5)) == {"small": 1, "large": 4}
    assert endpoints.take(0.0) is None


def test_some_are_avoided() -> None:
    endpoints = of(a=1, b=1)
    assert taken(endpoints, avoid=("a",)).endpoint == "b"
    assert endpoints.take(0.0, ("a",)) is None
    assert taken(endpoints).endpoint == "a"


def test_a_failure_is_a_pause_and_then_one_trial() -> None:
    endpoints = of(a=2, b=2)
    endpoints.failed(taken(endpoints), "broke", 10.0)
    assert (endpoints.well, endpoints.errors, endpoints.capacity) == (("b",), {"a": "broke"}, 2)
    others = [taken(endpoints, 10.9) for _ in range(2)]
    assert [turn.endpoint for turn in others] == ["b", "b"]
    assert endpoints.take(10.9) is None
    assert endpoints.next_trial(10.9) == pytest.approx(0.1)
    trial = taken(endpoints, 11.0)
    assert (trial.endpoint, trial.trial) == ("a", True)
    assert endpoints.take(99.0) is None, "a second one while the trial is under way"
    assert endpoints.next_trial(99.0) is None
    endpoints.succeeded(trial)
    assert (endpoints.well, endpoints.errors) == (("a", "b"), {})
    assert [taken(endpoints, 11.0).trial for _ in range(2)] == [False, False]


def test_pauses_double_up_to_the_longest_and_begin_anew_after_a_success() -> None:
    endpoints, now, pauses = of(a=1), 0.0, []
    for _ in range(2000):  # more than a float could double
        endpoints.failed(taken(endpoints, now), "broke", now)
        pause = endpoints.next_trial(now)
        assert pause is not None
        pauses.append(pause)
        now += pause
    assert pauses[:7] == pytest.approx([1, 2, 4, 8, 16, 32, 60])
    assert pauses[-1] == pytest.approx(LONGEST_PAUSE)
    endpoints.succeeded(taken(endpoints, now))
    endpoints.failed(taken(endpoints, now), "broke", now)
    assert endpoints.next_trial(now) == pytest.approx(1)


def test_a_pause_that_the_endpoint_asks_for() -> None:
    for asked, given_ in ((None, 1), (0.2, 1), (7.0, 7), (1e9, LONGEST_PAUSE)):
        endpoints = of(a=1)
        endpoints.failed(taken(endpoints), "429", 0.0, asked)
        assert endpoints.next_trial(0.0) == given_


def test_what_breaks_together_is_one_failure() -> None:
    endpoints = of(a=4)
    turns = [taken(endpoints) for _ in range(4)]
    for number, turn in enumerate(turns[:3]):
        endpoints.failed(turn, f"broke {number}", 0.5)
    assert endpoints.next_trial(0.5) == pytest.approx(1)
    assert endpoints.errors == {"a": "broke 2"}
    endpoints.succeeded(turns[3])
    assert endpoints.well == (), "it was sent before the pause, and says nothing of the time since"
    assert taken(endpoints, 1.5).trial


def test_a_turn_that_is_given_back_says_nothing() -> None:
    endpoints = of(a=1)
    endpoints.released(taken(endpoints))
    endpoints.failed(taken(endpoints), "broke", 0.0)
    endpoints.released(taken(endpoints, 1.0))
    assert endpoints.well == ()
    assert taken(endpoints, 1.0).trial


def test_since_when_all_are_down() -> None:
    endpoints = of(a=1, b=1)
    assert endpoints.down_since is None
    first, second = taken(endpoints), taken(endpoints)
    endpoints.failed(first, "broke", 3.0)
    assert endpoints.down_since is None
    endpoints.failed(second, "broke", 5.0)
    assert endpoints.down_since == 5.0
    trial = taken(endpoints, 6.0)
    endpoints.failed(trial, "broke", 6.5)
    assert endpoints.down_since == 5.0
    endpoints.succeeded(taken(endpoints, 9.0))
    assert endpoints.down_since is None


def test_they_come_and_go() -> None:
    endpoints = Endpoints()
    endpoints.replace({}, 1.0)
    assert (endpoints.take(1.0), endpoints.down_since, endpoints.listed) == (None, 1.0, ())
    endpoints.replace({"a": 1}, 2.0)
    assert endpoints.down_since is None
    old = taken(endpoints, 2.0)
    endpoints.replace({"b": 1}, 3.0)
    assert (endpoints.listed, endpoints.capacity) == (("b",), 1)
    endpoints.failed(taken(endpoints, 3.0), "broke", 3.0)
    endpoints.replace({"a": 1, "b": 1}, 3.5)
    assert endpoints.take(3.5) is None, "a is as busy as it was, b as paused"
    endpoints.replace({"b": 1}, 3.6)
    endpoints.succeeded(old)
    assert endpoints.down_since == 3.6, "the success of one that left helps nobody"
    endpoints.replace({"a": 1}, 4.0)
    assert taken(endpoints, 4.0).endpoint == "a"


def test_an_endpoint_without_requests_is_the_callers_mistake() -> None:
    endpoints = of(a=1)
    with pytest.raises(UsageError, match="b: must get at least 1 request at once, not 0"):
        endpoints.replace({"b": 0}, 0.0)
    assert endpoints.listed == ("a",)


LISTS = st.dictionaries(st.sampled_from("abc"), st.integers(1, 3))


@given(st.data())
def test_bounds_hold_whatever_happens(data: st.DataObject) -> None:
    endpoints, now = Endpoints(), 0.0
    limits = data.draw(LISTS)
    endpoints.replace(limits, now)
    quiet_until: dict[str, float] = {}
    under_way: list[EndpointTurn] = []
    for _ in range(data.draw(st.integers(1, 40))):
        match data.draw(st.sampled_from(["take", "take", "end", "end", "list", "wait"])):
            case "list":
                limits = data.draw(LISTS)
                endpoints.replace(limits, now)
            case "wait":
                now += data.draw(st.floats(0, 5))
            case "take" if (turn := endpoints.take(now)) is not None:
                same = [each for each in under_way if each.endpoint == turn.endpoint]
                assert len(same) < limits[turn.endpoint]
                assert now >= quiet_until.get(turn.endpoint, 0.0)
                assert not turn.trial or all(each.pauses < turn.pauses for each in same)
                under_way.append(turn)
            case "end" if under_way:
                turn = under_way.pop(data.draw(st.integers(0, len(under_way) - 1)))
                end = data.draw(st.sampled_from(["well", "broken", "cancelled"]))
                if end == "well":
                    endpoints.succeeded(turn)
                elif end == "cancelled":
                    endpoints.released(turn)
                else:
                    known = turn.endpoint in endpoints.well
                    endpoints.failed(turn, "broke", now)
                    if known or (turn.trial and turn.endpoint in limits):
                        quiet_until[turn.endpoint] = now + 1
        gone = {each for each in "abc" if each not in limits}
        for name in gone - {each.endpoint for each in under_way}:
            quiet_until.pop(name, None)  # one that is listed again later is a new one
        assert (endpoints.down_since is None) == bool(endpoints.well)
        assert endpoints.capacity == sum(limits[name] for name in endpoints.well)
