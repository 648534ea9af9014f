"""Made-up sessions: equal for equal seeds, of the form that was asked for, with hits computed by hand."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.plugins.agentic.agentic_form import read_agentic_form
from loadgen.plugins.agentic.made_up import MadeUpSessions
from loadgen.plugins.agentic.prefix_hits import prefix_hits
from workloads.errors import WorkloadError

S = 1_000_000_000
EXACT = "sessions=2 themes=1 turns=3 system=128 task=64 result=64 output=64 user=0 fanout=0 tool=2s"


def _sessions(form: str, seed: int = 1) -> MadeUpSessions:
    stored = pickle.dumps(MadeUpSessions(read_agentic_form(form), seed))
    sessions: MadeUpSessions = pickle.loads(stored)  # noqa: S301 (written here)
    return sessions


def test_tool_loop() -> None:
    """Each prompt is the one before, its answer, and a tool's result; sessions share the system prompt."""
    sessions = _sessions(EXACT)
    trees = [sessions.tree(number) for number in range(2)]
    assert [turn.input_tokens for turn in trees[0].turns] == [192, 320, 448]
    assert [(turn.after, turn.delay_ns) for turn in trees[0].turns] == [((), 0), ((0,), 2 * S), ((1,), 2 * S)]
    # 0 of 3, 3 of 5 and 5 of 7 blocks; of the second session, 2 more in a cache that both share.
    assert [tuple(prefix_hits(tree)) for tree in trees] == [(8, 15), (8, 15)]
    cached: set[int] = set()
    assert [prefix_hits(tree, cached).hits for tree in trees] == [8, 10]


def test_fan_out() -> None:
    """The turn after a spawn waits for all subagents, or for none in the background."""
    form = f"{EXACT} turns=2 fanout=1 subagents=2 agent_turns=1 agent_system=64"
    tree = _sessions(f"{form} background=0").tree(0)
    assert [(turn.stream, turn.after) for turn in tree.turns] == [(0, ()), (1, (0,)), (2, (0,)), (0, (1, 2))]
    assert [(stream.parent, stream.is_background) for stream in tree.streams] == [
        (None, False),
        (0, False),
        (0, False),
    ]
    alone = _sessions(f"{form} background=1").tree(0)
    assert [turn.after for turn in alone.turns] == [(), (0,), (0,), (0,)]
    assert [stream.is_background for stream in alone.streams] == [False, True, True]
    # Subagents share the block of their system prompt.
    assert (tree.turns[2].extends, tree.turns[2].kept_blocks) == (1, 1)


def test_compaction() -> None:
    """A history that does not fit is cut to the system prompt and a summary."""
    tree = _sessions(f"{EXACT} turns=4 context=512 summary=100").tree(0)
    assert [turn.input_tokens for turn in tree.turns] == [192, 320, 448, 128 + 100 + 64]
    assert [turn.kept_blocks for turn in tree.turns] == [0, 3, 5, 2]


@given(
    st.integers(0, 2**32),
    st.integers(0, 40),
    st.sampled_from(["", "depth=3 fanout=0.3 turns=6 context=20000"]),
)
def test_sound_trees(seed: int, number: int, form: str) -> None:
    """Turns wait for earlier ones, prompts fit and have their blocks, and a seed makes one session."""
    sessions = _sessions(f"sessions=41 {form}", seed)
    tree = sessions.tree(number)
    for place, turn in enumerate(tree.turns):
        assert all(before < place for before in turn.after)
        assert (turn.input_tokens or 0) + (turn.output_tokens or 0) <= 131_072
        assert len(turn.blocks) == (turn.input_tokens or 0) // 64
        if turn.extends is not None:
            before = tree.turns[turn.extends].blocks
            assert turn.blocks[: turn.kept_blocks] == before[: turn.kept_blocks]
    again = _sessions(f"sessions=41 {form}", seed).tree(number)
    assert [list(turn.blocks) for turn in again.turns] == [list(turn.blocks) for turn in tree.turns]
    assert [turn.delay_ns for turn in again.turns] == [turn.delay_ns for turn in tree.turns]


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("fanot=1", "did you mean 'fanout'"),
        ("turns", "not NAME=VALUE"),
        ("sessions=0", "sessions=0: not a whole number from 1 to 1,000,000"),
        ("user=2", "user=2: not a share from 0 to 1"),
        ("tool=3", "tool=3: '3': '3' has no unit"),
        ("turns=x", "--agentic turns: 'x'"),
    ],
)
def test_mistakes(form: str, message: str) -> None:
    """What cannot be read is refused, with the name."""
    with pytest.raises(WorkloadError, match=message):
        read_agentic_form(form)
