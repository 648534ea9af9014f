"""Session trees on a simulated clock: when each turn leaves, what is never asked, and what holds a place."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.driver.load import Closed, Load, Offline, Open, TraceArrivals
from loadgen.driver.requests.order import order_of
from loadgen.driver.requests.remaining import remaining
from loadgen.plugins.agentic.session_tree import AgentTurn, History, SessionTree
from loadgen.plugins.agentic.tree_kind import TreeKind
from tests.driver.manual_clock import open_loop
from tests.plugins.agentic.tree_play import MS, TreePlay, tree, user

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

OVERFLOW = "This model's maximum context length is 8192 tokens"

JOINED = tree(
    AgentTurn(0, messages=user("begin")),
    AgentTurn(1, (0,), 7 * MS, messages=user("left")),
    AgentTurn(2, (0,), 17 * MS, messages=user("right")),
    AgentTurn(1, (1,), 1 * MS, messages=user("left again")),
    AgentTurn(0, (0, 2, 3), 5 * MS, tool_ns=4 * MS, messages=user("join")),
    AgentTurn(0, (4,), 2 * MS, messages=user("end")),
)
"""Two subagents, one of two turns, that the main agent joins."""


@st.composite
def trees(draw: st.DrawFn) -> SessionTree:
    """A tree: each turn waits for the one before in its stream, and for any others."""
    turns: list[AgentTurn] = []
    last: dict[int, int] = {}
    for number in range(draw(st.integers(1, 10))):
        stream = draw(st.integers(0, min(len(last), 3)))
        others = draw(st.sets(st.integers(0, number - 1), max_size=2)) if number else set()
        after = others | ({last[stream]} if stream in last else set())
        delay_ns = draw(st.integers(0, 50)) * MS
        answer = {"role": "assistant", "content": f"recorded {number}"}
        prompt = {"extends": last.get(stream), "messages": user(str(number)), "answer": answer}
        turns.append(AgentTurn(stream, tuple(sorted(after)), delay_ns, **prompt))
        last[stream] = number
    history = draw(st.sampled_from([History.MESSAGES, History.RECORDED, History.LIVE]))
    return tree(*turns, name=draw(st.uuids()).hex, history=history)


def context(planned: SessionTree, number: int, place: int) -> list[str]:
    """The texts that a turn sends."""
    turn = planned.turns[number]
    if planned.history is History.MESSAGES or turn.extends is None:
        return [str(number)]
    answers = {History.RECORDED: f"recorded {turn.extends}", History.LIVE: f"answer {place}.{turn.extends}"}
    return [*context(planned, turn.extends, place), answers[planned.history], str(number)]


LOADS = st.sampled_from(
    [
        Closed(1),
        Closed(3),
        Offline(),
        Offline(2),
        open_loop("poisson", 20.0),
        open_loop("constant", 40, limit=2),
    ]
)


def places(load: Load) -> int | None:
    """The most trees at the same time."""
    match load:
        case Closed(concurrency=limit) | Offline(limit=limit) | Open(limit=limit):
            return limit


def doomed(planned: SessionTree, failed: AbstractSet[int]) -> set[int]:
    """The turns that cannot be asked after some have failed."""
    numbers: set[int] = set()
    for number, turn in enumerate(planned.turns):
        before = {other for other in range(number) if planned.turns[other].stream == turn.stream}
        if (before | set(turn.after)) & (numbers | failed):
            numbers.add(number)
    return numbers


def most_at_once(play: TreePlay) -> int:
    """The most trees that were under way at the same time, by their first and last requests."""
    steps = []
    for turns in play.by_session().values():
        begun = min(taken.issued_ns for taken in turns.values())
        ended = max(taken.ended_ns for taken in turns.values())
        steps += [(begun, 1), (ended, -1)]
    level = highest = 0
    for _, step in sorted(steps):
        level += step
        highest = max(highest, level)
    return highest


@settings(deadline=None, max_examples=150)
@given(data=st.data(), several=st.lists(trees(), min_size=1, max_size=4), load=LOADS)
def test_turns_wait_for_what_is_before_them(
    data: st.DataObject, several: list[SessionTree], load: Load
) -> None:
    """Each turn leaves when what it waits for has ended, plus its delay; after a failure the rest is left."""
    services = data.draw(st.lists(st.integers(1, 60), min_size=8, max_size=8))
    every = [(place, number) for place, planned in enumerate(several) for number in range(len(planned.turns))]
    failing = data.draw(st.sets(st.sampled_from(every), max_size=2))
    sessions = data.draw(st.integers(1, 2 * len(several)))
    play = TreePlay(
        load,
        several,
        sessions=sessions,
        service_ns=lambda index, turn: services[(3 * index + turn) % 8] * MS,
        fails=lambda index, turn: "broken" if (index, turn) in failing else "",
    )
    ends = {end["conversation"]: end for end in play.ends()}
    assert len(ends) == sessions
    for name, turns in play.by_session().items():
        place = next(iter(turns.values())).tree
        planned, end = several[place], ends[name]
        begun = end["begun_ns"]
        failed = {number for number in turns if (place, number) in failing}
        assert turns.keys() == set(range(len(planned.turns))) - doomed(planned, failed)
        assert sum(end["never_asked"].values()) == len(planned.turns) - len(turns)
        assert end["ending"] == ("failed" if failed else "completed")
        for number, taken in turns.items():
            turn = planned.turns[number]
            assert not failed.intersection(turn.after)
            ready = max((turns[before].ended_ns for before in turn.after), default=begun)
            assert taken.issued_ns == ready + turn.delay_ns
            assert [message["content"] for message in taken.messages] == context(planned, number, place)
            assert taken.more.get("free_ns", taken.due_ns) == taken.issued_ns
    limit = places(load)
    assert limit is None or most_at_once(play) <= limit


@settings(deadline=None, max_examples=100)
@given(several=st.lists(trees(), min_size=1, max_size=4), load=LOADS, stop_ms=st.integers(0, 400))
def test_after_a_stop_the_rest_is_asked_once(several: list[SessionTree], load: Load, stop_ms: int) -> None:
    """A session that was cut is asked again as a whole; together each turn has one result."""
    first = TreePlay(load, several, stop_at_ns=stop_ms * MS)
    whole = {end["conversation"] for end in first.ends() if end["ending"] == "completed"}
    settled = {end["prompt_id"]: 1 for end in first.ends() if end["conversation"] in whole}
    left = remaining(len(several), 0, order_of("in-order", len(several), 3), settled)
    plays = [first]
    if left:
        plays.append(TreePlay(load, several, left=left, sessions=len(left)))
        whole |= {end["conversation"] for end in plays[1].ends()}
    results = [(taken.tree, taken.turn) for play in plays for taken in play.taken if taken.session in whole]
    every = [(place, number) for place, planned in enumerate(several) for number in range(len(planned.turns))]
    assert sorted(results) == every


def test_subagents_run_at_once_and_are_joined() -> None:
    """Times of a tree by hand: 20 ms a turn."""
    play = TreePlay(Closed(1), [JOINED])
    (turns,) = play.by_session().values()
    assert [turns[number].issued_ns // MS for number in range(6)] == [0, 27, 37, 48, 73, 95]
    assert turns[4].more["tree"] == {
        "session": "s",
        "stream": 0,
        "depth": 0,
        "after": (0, 2, 3),
        "delay_ms": 5.0,
        "tool_ms": 4.0,
    }
    assert turns[1].more["tree"]["agent"] == "Explore"
    assert [turns[number].more["tree"]["depth"] for number in range(6)] == [0, 1, 1, 1, 0, 0]


def test_a_faster_replay_has_shorter_delays() -> None:
    """Delays and times of tools are divided by the speed; answers take what they take."""
    play = TreePlay(Closed(1), [JOINED], kind=TreeKind(speed=2.0))
    (turns,) = play.by_session().values()
    assert turns[1].issued_ns == 23.5 * MS
    assert turns[4].more["tree"]["tool_ms"] == 2.0


def test_sessions_of_a_trace_arrive_at_their_times() -> None:
    """An open loop of recorded arrivals, whatever the sessions before them do."""
    offsets_ns = [0, 3 * MS, 11 * MS]
    play = TreePlay(Open(TraceArrivals(2.0)), [JOINED] * 3, offsets_ns=offsets_ns)
    begun = sorted(end["begun_ns"] for end in play.ends())
    assert begun == [0, 1.5 * MS, 5.5 * MS]


def test_a_failed_turn_ends_its_stream() -> None:
    """The other subagent goes on; the join is never asked."""
    play = TreePlay(Closed(1), [JOINED], fails=lambda _, turn: "broken" if turn == 1 else "")
    assert sorted(taken.turn for taken in play.taken) == [0, 1, 2]
    (end,) = play.ends()
    assert (end["ending"], end["never_asked"]) == ("failed", {"failed": 3})
    progress = play.issuer.progress
    assert (progress.sessions, progress.never_asked, progress.cut) == (1, 3, {"failed": 1})


def test_a_prompt_beyond_the_context_ends_the_session() -> None:
    """No stream goes on, and none is waited for."""
    play = TreePlay(Closed(1), [JOINED], fails=lambda _, turn: OVERFLOW if turn == 1 else "")
    assert sorted(taken.turn for taken in play.taken) == [0, 1, 2]
    (end,) = play.ends()
    assert (end["ending"], end["never_asked"]) == ("context_overflow", {"context_overflow": 3})


def test_an_overflow_ends_pauses_at_once() -> None:
    """A place is free when the last request in flight has ended, not after a delay."""
    paused = tree(
        AgentTurn(0, messages=user("first")),
        AgentTurn(0, (0,), messages=user("too long")),
        AgentTurn(1, (0,), 10_000 * MS, messages=user("much later")),
    )
    play = TreePlay(Closed(1), [paused, JOINED], fails=lambda *turn: OVERFLOW if turn == (0, 1) else "")
    first, second = play.ends()
    assert first["never_asked"] == {"context_overflow": 1}
    assert second["begun_ns"] == 40 * MS


def test_the_end_of_the_phase_ends_sessions() -> None:
    """A turn that is due later than the end is never asked, and nothing waits for its time."""
    play = TreePlay(Closed(1), [JOINED], sessions=None, duration_s=0.030)
    assert [taken.turn for taken in play.taken] == [0, 1]
    (end,) = play.ends()
    assert (end["ending"], end["never_asked"]) == ("duration", {"duration": 4})


def test_a_session_holds_its_place_until_the_end() -> None:
    """A session whose next turn is due after the phase makes no place for another session."""
    paused = tree(AgentTurn(0), AgentTurn(0, (0,), 1_000 * MS))
    play = TreePlay(Closed(1), [paused], sessions=None, duration_s=0.200)
    assert [taken.turn for taken in play.taken] == [0]
    (end,) = play.ends()
    assert (end["ending"], end["never_asked"]) == ("duration", {"duration": 1})


def contexts(history: History) -> list[list[str]]:
    """The texts that each turn of two streams sends."""
    turns = (
        AgentTurn(0, messages=user("a"), answer={"role": "assistant", "content": "recorded a"}),
        AgentTurn(1, (0,), messages=user("b"), answer={"role": "assistant", "content": "recorded b"}),
        AgentTurn(
            0, (1,), extends=0, messages=user("c"), answer={"role": "assistant", "content": "recorded c"}
        ),
        AgentTurn(1, (2,), extends=1, messages=user("d")),
    )
    play = TreePlay(Closed(1), [tree(*turns, history=history)])
    taken = sorted(play.taken, key=lambda each: each.turn)
    return [[message["content"] for message in each.messages] for each in taken]


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        (History.MESSAGES, [["a"], ["b"], ["c"], ["d"]]),
        (History.CUMULATIVE, [["a"], ["b"], ["c"], ["d"]]),
        (History.LIVE, [["a"], ["b"], ["a", "answer 0.0", "c"], ["b", "answer 0.1", "d"]]),
        (History.RECORDED, [["a"], ["b"], ["a", "recorded a", "c"], ["b", "recorded b", "d"]]),
    ],
)
def test_the_history_is_as_declared(history: History, expected: list[list[str]]) -> None:
    """Whole prompts are sent as they are; increments follow on the turn that they extend."""
    assert contexts(history) == expected


def test_models_by_first_appearance() -> None:
    """The models of a session are mapped to those that are asked, modulo; tags name them."""
    named = tree(*(AgentTurn(0, (place - 1,) if place else (), model=m) for place, m in enumerate("babca")))
    asked = TreePlay(Closed(1), [named], kind=TreeKind(models=("first", "second")))
    assert [model for *_, model in asked.runner.models] == ["first", "second", "first", "first", "second"]
    assert {model for *_, model in TreePlay(Closed(1), [named]).runner.models} == {None}


def test_a_salt_is_the_same_in_all_prompts_of_a_session() -> None:
    """Prefixes are shared within a session and with no other one."""
    play = TreePlay(Closed(1), [JOINED, JOINED], kind=TreeKind(salt=True))
    salts = {
        name: {taken.messages[0]["content"].split()[0] for taken in turns.values()}
        for name, turns in play.by_session().items()
    }
    first, second = salts.values()
    assert len(first) == len(second) == len(first ^ second) - 1 == 1


def test_sessions_follow_one_another_in_a_place() -> None:
    """A user of a closed loop begins a session when the one before has drained."""
    play = TreePlay(Closed(1), [JOINED] * 3)
    spans = sorted(
        (min(taken.issued_ns for taken in turns.values()), max(taken.ended_ns for taken in turns.values()))
        for turns in play.by_session().values()
    )
    assert all(before[1] == after[0] for before, after in pairwise(spans))
