"""What is left to ask of a session that was interrupted: nothing twice, nothing never."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from loadgen.remaining import remaining


def planned(requests: int, first_sample: int, samples: int) -> list[int]:
    """What a session asks that nobody interrupts."""
    return [(first_sample + number) % samples for number in range(requests)]


plans = st.tuples(st.integers(0, 60), st.integers(0, 30), st.integers(1, 12))


@given(plans, st.data())
def test_what_is_settled_and_what_is_left_are_the_plan(
    plan: tuple[int, int, int], data: st.DataObject
) -> None:
    """However far the session came, and in whatever order its requests ended."""
    whole = planned(*plan)
    settled = data.draw(st.lists(st.sampled_from(whole))) if whole else []
    done = Counter(settled) & Counter(whole)
    assert Counter(remaining(*plan, done)) + done == Counter(whole)


@given(plans, st.data())
def test_what_is_left_comes_in_the_order_of_the_plan(plan: tuple[int, int, int], data: st.DataObject) -> None:
    """It is the plan with holes."""
    whole = planned(*plan)
    done = Counter(data.draw(st.lists(st.sampled_from(whole)))) if whole else Counter[int]()
    rest = iter(whole)
    assert all(sample in rest for sample in remaining(*plan, done))


@given(plans)
def test_a_session_that_did_nothing_is_left_whole(plan: tuple[int, int, int]) -> None:
    """So is one whose log knows of prompts that it was never to ask."""
    assert remaining(*plan, {}) == planned(*plan)
    assert remaining(*plan, {99: 3}) == planned(*plan)


@given(plans)
def test_of_a_session_that_did_everything_nothing_is_left(plan: tuple[int, int, int]) -> None:
    """Also where more is settled than was planned."""
    assert remaining(*plan, Counter(planned(*plan))) == []
    assert remaining(*plan, Counter(planned(*plan) * 2)) == []


@given(plans, st.data())
def test_a_session_may_be_interrupted_again(plan: tuple[int, int, int], data: st.DataObject) -> None:
    """What two sittings have settled together is what counts, not what either of them was to do."""
    whole = planned(*plan)
    first = Counter(whole[: data.draw(st.integers(0, len(whole)))])
    after_first = remaining(*plan, first)
    second = Counter(after_first[: data.draw(st.integers(0, len(after_first)))])
    assert Counter(remaining(*plan, first + second)) == Counter(whole) - first - second
