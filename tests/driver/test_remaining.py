"""What is left to ask of a session that was interrupted: nothing twice, nothing never, in every order."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.requests.order import ORDERS, order_of
from loadgen.driver.requests.remaining import remaining


class Course(NamedTuple):
    """A session that was not interrupted yet."""

    count: int
    first: int
    samples: int
    order: str

    def asks(self, request: int) -> int:
        """The sample of a measured request."""
        return order_of(self.order, self.samples, 3)(self.first + request)

    def planned(self) -> list[int]:
        """What it asks."""
        return [self.asks(request) for request in range(self.count)]

    def left(self, settled: Counter[int]) -> list[int]:
        """What is left to ask of it."""
        order = order_of(self.order, self.samples, 3)
        numbers = remaining(self.count, self.first, order, settled)
        assert list(numbers) == sorted(set(numbers))
        return [self.asks(number) for number in numbers]


courses = st.builds(
    Course, st.integers(0, 60), st.integers(0, 30), st.integers(1, 12), st.sampled_from(ORDERS)
)


@given(courses, st.data())
def test_what_is_settled_and_what_is_left_are_the_plan(course: Course, data: st.DataObject) -> None:
    """However far the session came, and in whatever order its requests ended."""
    whole = course.planned()
    settled = data.draw(st.lists(st.sampled_from(whole))) if whole else []
    done = Counter(settled) & Counter(whole)
    assert Counter(course.left(done)) + done == Counter(whole)


@given(courses, st.data())
def test_what_is_left_comes_in_the_order_of_the_plan(course: Course, data: st.DataObject) -> None:
    """It is the plan with holes."""
    whole = course.planned()
    done = Counter(data.draw(st.lists(st.sampled_from(whole)))) if whole else Counter[int]()
    rest = iter(whole)
    assert all(sample in rest for sample in course.left(done))


@given(courses)
def test_a_session_that_did_nothing_is_left_whole(course: Course) -> None:
    """So is one whose log knows of prompts that it was never to ask."""
    assert course.left(Counter()) == course.planned()
    assert course.left(Counter({99: 3})) == course.planned()


@given(courses)
def test_of_a_session_that_did_everything_nothing_is_left(course: Course) -> None:
    """Also where more is settled than was planned."""
    assert course.left(Counter(course.planned())) == []
    assert course.left(Counter(course.planned() * 2)) == []


@given(courses, st.data())
def test_a_session_may_be_interrupted_again(course: Course, data: st.DataObject) -> None:
    """What two segments have settled together is what counts, not what either of them was to do."""
    whole = course.planned()
    first = Counter(whole[: data.draw(st.integers(0, len(whole)))])
    after_first = course.left(first)
    second = Counter(after_first[: data.draw(st.integers(0, len(after_first)))])
    assert Counter(course.left(first + second)) == Counter(whole) - first - second
