"""Sessions that begin in mid-trajectory, their warm-up, and caps on idle time, on a simulated clock."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.driver.early_end import EarlyEnd
from loadgen.driver.load import Closed
from loadgen.driver.stop import Stop
from loadgen.plugins.agentic.mid_start import StartWindow, position_at, read_window, require_moments, start_ns
from loadgen.plugins.agentic.salting import salting_of
from loadgen.plugins.agentic.session_tree import AgentTurn, History, SessionTree
from loadgen.plugins.agentic.tree_kind import MidStart, TreeKind
from loadgen.sessions.errors import UsageError
from recorder.event import EventType
from tests.plugins.agentic.tree_play import MS, PlayedTurn, TreePlay, tree, user
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.sessions.settings.load_options import SaltPlace

SECOND = 1_000 * MS


def recorded(*turns: tuple[int, tuple[int, ...], float, float], name: str = "s") -> SessionTree:
    """A session whose turns are (stream, after, start, end), in seconds."""
    made = []
    for number, (stream, after, start, end) in enumerate(turns):
        ends = [turns[before][3] for before in after]
        made.append(
            AgentTurn(
                stream,
                after,
                round((start - max(ends, default=0.0)) * SECOND),
                messages=user(f"{name}.{number}"),
                output_tokens=50,
                start_ns=round(start * SECOND),
                end_ns=round(end * SECOND),
            )
        )
    return tree(*made, name=name)


LONG = recorded(
    (0, (), 0, 10),
    (1, (0,), 20, 30),
    (0, (0,), 40, 50),
    (1, (1,), 60, 70),
    (0, (2, 3), 80, 90),
    (0, (4,), 100, 110),
    (0, (5,), 120, 130),
)
"""A main agent with a subagent from 20 s to 70 s, which the turn at 80 s joins."""
AT_55 = StartWindow(55 / 120, 55 / 120)


def mid(trees: Sequence[SessionTree], window: StartWindow, users: int, **more: Any) -> TreeKind:
    """A kind whose first sessions begin in a window."""
    leads = [0]
    for number in range(users):
        each = trees[number % len(trees)]
        position = position_at(each, start_ns(each, window, 7, number))
        leads += [position.lead_ns(each, turn) for turn in position.under_way(each)]
    caps = {name: more.pop(name) for name in ("idle_cap_s", "tree_idle_cap_s") if name in more}
    return TreeKind(mid_start=MidStart(window, users, 7, max(leads), **more), **caps)


def play(kind: TreeKind, trees: Sequence[SessionTree], users: int, **more: Any) -> TreePlay:
    """A run of users who begin in mid-trajectory."""
    start = kind.mid_start
    rounds = 0 if start is None else 1 + bool(start.pressure)
    warmup = users if rounds else 0
    return TreePlay(Closed(users), trees, kind=kind, warmup=warmup, warmup_rounds=rounds, **more)


def warm(run: TreePlay) -> list[PlayedTurn]:
    """The requests of the warm-up, by their issue."""
    return sorted(
        (taken for taken in run.taken if taken.phase == "warmup"), key=lambda taken: taken.issued_ns
    )


def began_ns(run: TreePlay) -> int:
    """When the measurement began."""
    phases = [event for event in run.events if event.type is EventType.PHASE_STARTED]
    return next(event.at_ns for event in phases if event.data["phase"] == "performance")


def test_a_session_begins_in_the_middle() -> None:
    """At 55 s both agents are under way: their last requests warm up, 35 s and 15 s ahead."""
    run = play(mid([LONG], AT_55, 1), [LONG], 1)
    assert [(taken.turn, taken.issued_ns // SECOND) for taken in warm(run)] == [(1, 0), (2, 20)]
    (session,) = run.by_session().values()
    assert sorted(session) == [3, 4, 5, 6]
    # The turn at 60 s is the first after the moment, and is due at once; the next one waits for its end.
    assert session[3].issued_ns == began_ns(run)
    assert session[4].issued_ns == session[3].ended_ns + 10 * SECOND
    assert len({taken.more["conversation"] for taken in run.taken}) == 1
    (end,) = run.ends()
    assert (end["begun_at_ms"], end["turns"], end["ending"]) == (55_000, 4, "completed")


def test_all_users_reach_their_positions_together() -> None:
    """Warm-up requests leave as long before the common end as before their moments; then spacing is kept."""
    other = recorded((0, (), 0, 1), (0, (0,), 53, 54), (0, (1,), 100, 101), (0, (2,), 120, 121), name="o")
    run = play(mid([LONG, other], AT_55, 2), [LONG, other], 2)
    assert [(taken.tree, taken.turn, taken.issued_ns // SECOND) for taken in warm(run)] == [
        (0, 1, 0),
        (0, 2, 20),
        (1, 1, 33),
    ]
    first = {taken.tree: taken for taken in sorted(run.measured(), key=lambda each: -each.issued_ns)}
    assert first[0].issued_ns == began_ns(run)
    # At 100 s, where the other user's first request came at 60 s.
    assert first[1].issued_ns == began_ns(run) + 40 * SECOND


def test_pressure_asks_ahead_without_delays() -> None:
    """Two more requests for one token each, in order; the measurement continues with the delay after them."""
    run = play(mid([LONG], AT_55, 1, pressure=2), [LONG], 1)
    asked = [(taken.turn, taken.most_tokens) for taken in warm(run)]
    assert asked == [(1, 50), (2, 50), (3, 1), (4, 1)]
    pressed = warm(run)[2:]
    assert pressed[1].issued_ns == pressed[0].ended_ns
    (session,) = run.by_session().values()
    assert sorted(session) == [5, 6]
    assert session[5].most_tokens == 50
    assert session[5].issued_ns == began_ns(run)


def test_pressure_leaves_the_last_turn() -> None:
    """A session always has something to measure."""
    run = play(mid([LONG], AT_55, 1, pressure=99), [LONG], 1)
    (session,) = run.by_session().values()
    assert sorted(session) == [6]


def test_a_failed_warm_up_ends_the_run() -> None:
    """A position that is not reached would change what is measured: the session drains, with a finding."""
    kind = mid([LONG], AT_55, 1)
    run = play(kind, [LONG], 1, fails=lambda _, turn: "broken" if turn == 2 else "")
    assert run.issuer.progress.warmup_failed == 1
    stop, events = Stop(), []
    EarlyEnd(run.plan, stop, events.append, run.clock, lambda _: None).look(run.issuer.progress)
    assert (stop.reason, [event.data["code"] for event in events]) == ("warmup_failed", ["warmup_failed"])


def test_a_warm_up_that_takes_too_long_has_failed() -> None:
    """It awaits what is in flight for a while after all users have reached their positions."""
    kind = mid([LONG], AT_55, 1, drain_s=30.0)
    slow = play(kind, [LONG], 1, service_ns=lambda *_: 50 * SECOND)
    # The first request, which left 35 s before the position, was answered in time.
    assert (slow.issuer.progress.warmup_failed, began_ns(slow)) == (1, 65 * SECOND)
    fast = play(kind, [LONG], 1, service_ns=lambda *_: 40 * SECOND)
    assert fast.issuer.progress.warmup_failed == 0


def test_the_prompts_of_a_session_have_one_salt() -> None:
    """In the warm-up and after it; another play of the session has another one."""
    salted = replace(mid([LONG], AT_55, 1), salt=True, salt_at="user")
    run = play(salted, [LONG], 1, sessions=2)
    texts = [(taken.phase, taken.messages[0]["content"].partition("]\n\n")[0]) for taken in run.taken]
    assert {phase for phase, text in texts if text == texts[0][1]} == {"warmup", "performance"}
    assert len({text for _, text in texts}) == 2
    assert all(len(text) == 13 for _, text in texts)


@settings(deadline=None, max_examples=40)
@given(
    window=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
    users=st.integers(1, 4),
    pressure=st.integers(0, 4),
    caps=st.sampled_from([{}, {"idle_cap_s": 3.0}, {"tree_idle_cap_s": 4.0}]),
)
def test_laws_of_a_start_in_the_middle(
    window: list[float], users: int, pressure: int, caps: dict[str, float]
) -> None:
    """Each turn is past or measured once; a primed agent goes on; the first request is due at the start."""
    low, high = window
    run = play(
        mid([LONG], StartWindow(low, high), users, pressure=pressure, **caps), [LONG], users, sessions=users
    )
    lanes: dict[str, list[PlayedTurn]] = {}
    for taken in run.taken:
        lanes.setdefault(taken.session, []).append(taken)
    for taken in lanes.values():
        asked = sorted(each.turn for each in taken if each.phase == "performance")
        ahead = [each.turn for each in taken if each.most_tokens == 1]
        assert len(ahead) <= pressure
        assert asked, "a session has a turn to measure"
        assert not set(asked).intersection(each.turn for each in taken if each.phase == "warmup")
        past = set(range(len(LONG.turns))) - set(asked)
        assert all(set(LONG.turns[turn].after) <= past for turn in past)
        primed = {each.turn for each in taken if each.phase == "warmup"} - set(ahead)
        for turn in primed:
            stream = LONG.turns[turn].stream
            assert any(LONG.turns[later].stream == stream for later in {*asked, *ahead})
    assert min(taken.issued_ns for taken in run.measured()) == began_ns(run)


def test_a_window_is_a_part_of_the_recorded_time() -> None:
    """Shares from 0 to 1, drawn by session, user and seed; moments lie in the window."""
    assert read_window("0.25..0.75") == (0.25, 0.75)
    for text in ("0.75..0.25", "0.5", "-1..1", "0..2", "a..b", "nan..1"):
        with pytest.raises(UsageError, match=r"LOW\.\.HIGH"):
            read_window(text)
    window = StartWindow(0.25, 0.75)
    drawn = {start_ns(LONG, window, 42, number) for number in range(50)}
    assert len(drawn) == 50
    assert all(30 * SECOND <= at_ns <= 90 * SECOND for at_ns in drawn)
    assert start_ns(LONG, window, 42, 0) != start_ns(LONG, window, 43, 0)


@pytest.mark.parametrize(
    ("session", "message"),
    [
        (replace(LONG, history=History.LIVE), "--history live"),
        (tree(AgentTurn(0, messages=user("a"))), "no recorded starts"),
    ],
)
def test_sessions_that_cannot_begin_in_the_middle(session: SessionTree, message: str) -> None:
    """Those without recorded times, and those whose prompts contain answers that were never given."""
    with pytest.raises(UsageError, match=message):
        require_moments(session)


def gaps(run: TreePlay, tree_: int) -> list[int]:
    """The seconds between the end of a turn and the next one, of a session without subagents."""
    turns = sorted((each for each in run.measured() if each.tree == tree_), key=lambda each: each.turn)
    return [(later.issued_ns - before.ended_ns) // SECOND for before, later in pairwise(turns)]


def alone(*starts: float, name: str = "s") -> SessionTree:
    """A session of one agent, whose requests took no time."""
    before = {number: (number - 1,) if number else () for number in range(len(starts))}
    return recorded(*((0, before[number], start, start) for number, start in enumerate(starts)), name=name)


def test_idle_time_of_all_sessions_is_capped() -> None:
    """Pauses move forward together only while nothing is in flight anywhere."""
    first, second = alone(0, 60, 65, name="a"), alone(0, 62, 200, name="b")
    run = play(TreeKind(idle_cap_s=10.0), [first, second], 2, service_ns=lambda *_: 0)
    # From 0 nothing is in flight: at 10 s the pauses that end at 60 s and 62 s are moved by 50 s.
    assert gaps(run, 0) == [10, 5]
    # At 15 s the last request of `a` ended: `b`, whose pause would end at 150 s, goes on at 25 s.
    assert gaps(run, 1) == [12, 13]
    assert [taken.more["tree"].get("moved_ms") for taken in run.measured() if taken.tree == 1] == [
        None,
        50_000.0,
        125_000.0,
    ]
    assert all(taken.due_ns == taken.issued_ns for taken in run.measured())


def test_a_request_in_flight_anywhere_keeps_all_pauses() -> None:
    """One slow answer: the other session waits as recorded."""
    run = play(
        TreeKind(idle_cap_s=10.0),
        [alone(0, 60, name="a"), alone(0, 1000, name="b")],
        2,
        service_ns=lambda index, turn: 100 * SECOND if (index, turn) == (1, 0) else 0,
    )
    assert gaps(run, 0) == [60]
    assert gaps(run, 1) == [10]


def test_idle_time_of_a_session_is_capped_by_itself() -> None:
    """A session moves its own pauses, by as much, whatever the others do."""
    forked = recorded((0, (), 0, 0), (1, (0,), 400, 400), (0, (0,), 450, 450))
    run = play(
        TreeKind(tree_idle_cap_s=300.0),
        [forked, alone(0, 299, name="b")],
        2,
        service_ns=lambda *_: 0,
    )
    assert [
        taken.issued_ns // SECOND for taken in sorted(run.measured(), key=lambda each: each.issued_ns)
    ] == [*(0, 0, 299, 300, 350)]


def test_both_caps_hold() -> None:
    """The cap on all sessions moves pauses that the cap on one has moved, and the other way round."""
    trees = [alone(0, 400, name="a"), alone(0, 20, 40, 60, name="b")]
    run = play(TreeKind(idle_cap_s=15.0, tree_idle_cap_s=30.0), trees, 2, service_ns=lambda *_: 0)
    # At 30 s the other session's own cap lets it ask, so that the second pause stays as recorded.
    assert gaps(run, 1) == [15, 20, 15]
    assert gaps(run, 0) == [30]


def test_what_is_due_after_the_end_can_be_moved_before_it() -> None:
    """A pause beyond the duration is not given up while it can move; without a cap the turn is left out."""
    capped = play(TreeKind(idle_cap_s=5.0), [alone(0, 100)], 1, sessions=None, duration_s=20.0)
    assert len(capped.measured()) >= 2
    plain = play(TreeKind(), [alone(0, 100)], 1, sessions=None, duration_s=20.0)
    assert len(plain.measured()) == 1
    (end,) = plain.ends()
    assert (end["ending"], end["never_asked"]) == ("duration", {"duration": 1})


@pytest.mark.parametrize(
    ("place", "pattern", "roles"),
    [
        ("user", r"S\n\[[0-9a-f]{12}\]\n\nU", ("system", "user")),
        ("user", r"\[[0-9a-f]{12}\]\n\nU", ("user",)),
        ("system", r"\[salt: [0-9a-f]{4}\] S \[salt: [0-9a-f]{4}\]\nU", ("system", "user")),
        ("system", r"\[salt: [0-9a-f]{4}\] \[salt: [0-9a-f]{4}\] U", ("user",)),
        ("prompt", r"[0-9a-f]{16} S\nU", ("system", "user")),
    ],
)
def test_places_of_a_salt(place: SaltPlace, pattern: str, roles: tuple[str, ...]) -> None:
    """Before everything, before the first user message, or around the system prompt."""
    chat = tuple({"role": role, "content": role[0].upper()} for role in roles)
    sent = salting_of(place, "run", 3, 2)(Sample(0, "U", chat=chat))
    assert re.fullmatch(pattern, "\n".join(message["content"] for message in sent.chat or ()))


def test_salts_of_passes_and_sessions() -> None:
    """Around the system prompt: equal before it in a pass, different after it; of another run, all differ."""
    first, same, later = (salting_of("system", "run", number, 2).text.split() for number in (0, 1, 2))
    assert first[0] == same[0] != later[0]
    assert len({first[1], same[1], later[1]}) == 3
    assert salting_of("system", "other", 0, 2).text.split()[0] != first[0]
