"""What is to be done when."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loadgen.mock_endpoint.timer_queue import TimerQueue

Entry = tuple[int, int]
DUE = st.integers(0, 10_000_000)


def everything(agenda: TimerQueue[Entry], now_ns: int) -> list[Entry]:
    """All that an agenda hands out at a moment."""
    return [entry for entries in iter(lambda: agenda.take(now_ns), []) for entry in entries]


def filled(due_ns: list[int]) -> TimerQueue[Entry]:
    """An agenda that holds something for each of these moments."""
    agenda = TimerQueue[Entry]()
    for serial, moment in enumerate(due_ns):
        agenda.add((moment, serial))
    return agenda


@given(st.lists(DUE), st.lists(DUE))
def test_everything_is_handed_out_once_in_order(due_ns: list[int], moments: list[int]) -> None:
    """Whenever one asks, what comes is in order, none of it early, and in the end it is all there was."""
    agenda = filled(due_ns)
    taken: list[Entry] = []
    for now_ns in [*sorted(moments), 20_000_000]:
        some = everything(agenda, now_ns)
        assert all(moment <= now_ns for moment, _ in some)
        taken += some
    assert taken == sorted((moment, serial) for serial, moment in enumerate(due_ns))
    assert agenda.next_ns() is None


@given(st.lists(DUE, min_size=1))
def test_it_says_when_to_ask_again(due_ns: list[int]) -> None:
    """At the moment that it names there is something, right before there is not; it is 66 us away at most."""
    agenda = filled(due_ns)
    next_ns = agenda.next_ns()
    assert next_ns is not None
    assert min(due_ns) < next_ns <= min(due_ns) + 65_536
    assert agenda.take(next_ns - 1) == []
    assert agenda.take(next_ns)[0][0] == min(due_ns)


def test_what_is_overdue_can_still_be_added() -> None:
    """An entry for a moment that has passed comes before everything else."""
    agenda = filled([5_000_000])
    everything(agenda, 4_000_000)
    agenda.add((1_000_000, 7))
    assert everything(agenda, 6_000_000) == [(1_000_000, 7), (5_000_000, 0)]
