"""Weka's traces as session trees: what each turn waits for, chains, prompts, and theoretical hits."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from loadgen.plugins.agentic.prefix_hits import peak_width, prefix_hits
from loadgen.plugins.agentic.reading import read_sessions
from loadgen.plugins.agentic.session_tree import History
from tests.plugins.agentic.weka_files import conversation, request, subagent, with_two_agents, written
from workloads.errors import TraceError
from workloads.traces.form import read_form

if TYPE_CHECKING:
    from loadgen.plugins.agentic.session_tree import SessionTree

S = 1_000_000_000
SAMPLES = Path(os.environ.get("CONFORMANCE_DATA", "../shared/data")) / "agentic" / "weka"

VECTORS = {
    "0103": (3, 0, 483, 771, 1),
    "0174": (6, 0, 1_460, 1_807, 1),
    "0504": (3, 0, 343, 525, 1),
    "0505": (8, 0, 2_949, 4_081, 1),
    "0277": (53, 4, 35_139, 40_230, 3),
    "0291": (32, 2, 31_603, 35_209, 2),
    "0274": (105, 3, 89_129, 93_558, 2),
    "0014": (123, 1, 187_788, 197_148, 2),
}
"""By number of a trace of kv-cache-tester: requests, subagents, hits, blocks, most requests at one time."""

SPAWNS = {"0277": 1, "0291": 1, "0274": 1, "0014": 0}
"""How many subagents would fit if their times were their spawns."""


def _waits(tree: SessionTree) -> list[tuple[int, tuple[int, ...], float]]:
    return [(turn.stream, turn.after, turn.delay_ns / S) for turn in tree.turns]


@pytest.mark.parametrize("number", VECTORS)
def test_published_traces(number: str) -> None:
    """Figures of eight published traces, as AIPerf reads their times; skipped where they are not at hand."""
    path = SAMPLES / f"trace_{number}.json"
    if not path.exists():
        pytest.skip(f"{path} is not at hand; name its folder with CONFORMANCE_DATA")
    tree = read_sessions(path, read_form("weka-spawn")).tree(0)
    agents = sum("/" not in stream.name for stream in tree.streams) - 1
    hits = prefix_hits(tree)
    assert (len(tree.turns), agents, *hits, peak_width(tree)) == VECTORS[number]
    own = read_sessions(path)
    assert prefix_hits(own.tree(0)) == hits
    fits = f"which fits {agents} of {agents}; as the spawn, t fits {SPAWNS.get(number)}"
    assert own.facts.notes == [f"t of a subagent is read as the end, {fits}"] * bool(agents)


def test_the_time_of_a_subagent_can_be_its_end(tmp_path: Path) -> None:
    """What fits between the turns before and after, for the whole input; one that was launched has no end."""
    sub = [request(0, [20]), request(6, [20, 21])]
    whole = conversation(
        request(0, [1], took=4),
        {**subagent(14, "ended", sub), "duration_ms": 9_000},
        {**subagent(5, "launched", sub, status="async_launched"), "duration_ms": 40_000},
        request(16, [1, 2]),
    )
    trace = written(tmp_path / "one.jsonl", whole)
    starts = [
        {tree.streams[turn.stream].name: (turn.start_ns or 0) / S for turn in reversed(tree.turns)}
        for tree in (read_sessions(trace).tree(0), read_sessions(trace, read_form("weka-spawn")).tree(0))
    ]
    assert starts == [
        {"main": 0, "ended": 5, "launched": 5},
        {"main": 0, "ended": 14, "launched": 5},
    ]


@pytest.mark.parametrize("shift_s", [0, 10])
def test_waits_of_subagents(tmp_path: Path, shift_s: int) -> None:
    """Turns wait for spawns, joins and interleaving, whatever the times of subagents count from."""
    tree = read_sessions(written(tmp_path / "one.jsonl", with_two_agents(shift_s))).tree(0)
    assert [stream.name for stream in tree.streams] == ["main", "a", "b"]
    assert [(stream.parent, stream.kind) for stream in tree.streams[1:]] == [(0, "Explore")] * 2
    # By start: main 0 to 5, a 10 to 11, b 11 to 12, a 13 to 15, main 20 to 21, main 30 to 31.
    assert _waits(tree) == [
        (0, (), 0),
        (1, (0,), 5),
        (2, (1,), 0),
        (1, (2,), 1),
        (0, (3,), 5),
        (0, (4,), 9),
    ]
    assert [turn.extends for turn in tree.turns] == [None, None, 1, 1, 0, 4]
    assert [turn.kept_blocks for turn in tree.turns] == [0, 0, 1, 2, 3, 6]
    assert tree.history is History.CUMULATIVE


def test_one_convention_for_the_input(tmp_path: Path) -> None:
    """A relative time that is larger than the spawn's is read like the other times of the input."""
    late = conversation(request(0, [1]), subagent(2, "a", [request(3, [9])]), request(9, [1, 2]), name="late")
    corpus = read_sessions(written(tmp_path / "two.jsonl", with_two_agents(0), late))
    assert corpus.tree(1).turns[1].start_ns == 5 * S


def test_background_and_dropped_subagents(tmp_path: Path) -> None:
    """A launched or last subagent runs in the background; one before the first request is left out."""
    corpus = read_sessions(
        written(
            tmp_path / "one.jsonl",
            conversation(
                subagent(0, "early", [request(0, [7])]),
                request(0, [1]),
                subagent(2, "launched", [request(0, [8], took=90)], status="async_launched"),
                request(4, [1, 2]),
                subagent(6, "last", [request(0, [9])]),
            ),
        )
    )
    tree = corpus.tree(0)
    assert [(stream.name, stream.is_background) for stream in tree.streams] == [
        ("main", False),
        ("launched", True),
        ("last", True),
    ]
    # The second request of the main agent does not wait for the launched subagent.
    assert _waits(tree)[2] == (0, (0,), 3)
    assert corpus.facts.left_out.rows == {"a subagent without a request before it": 1}


def test_flattened_chains(tmp_path: Path) -> None:
    """Requests that run at the same time, or do not extend the main chain, are separate streams."""
    opening = [1, 2, 3, 4]
    tree = read_sessions(
        written(
            tmp_path / "one.jsonl",
            conversation(
                request(0, opening, took=5),
                request(2, [50, 51]),
                request(8, [*opening, 5, 6]),
                request(9.5, [*opening, 60]),
                request(12, [*opening, 5, 6, 7]),
                request(20, [1, 2, 3, 80]),
            ),
        )
    ).tree(0)
    # The fork of blocks 5 and 6 is a separate stream; the last request is a compaction of the main chain.
    assert [turn.stream for turn in tree.turns] == [0, 1, 0, 2, 0, 0]
    assert [(turn.extends, turn.kept_blocks) for turn in tree.turns] == [
        (None, 0),
        (None, 0),
        (0, 4),
        (0, 4),
        (2, 6),
        (4, 3),
    ]


def test_labels_of_chains(tmp_path: Path) -> None:
    """Streams of a flattened trace are named by their requests."""
    long = range(1000, 7000)
    tree = read_sessions(
        written(
            tmp_path / "one.jsonl",
            conversation(
                request(0, [1, 2], took=50),
                request(1, [50], took=9),
                request(2, long, took=40),
                *(request(10 + n, [7, 8 + n], took=30) for n in range(3)),
                *(request(41 + n, [7, 8 + n, 20 + n], took=30) for n in range(3)),
            ),
        )
    ).tree(0)
    assert [stream.kind for stream in tree.streams] == [
        "",
        "auxiliary",
        "reduction",
        "worker",
        "worker",
        "worker",
    ]


def test_what_is_left_out(tmp_path: Path) -> None:
    """Requests that cannot be asked are left out and counted; block sizes must be equal."""
    empty = request(3, [1, 2], out=0)
    whole = conversation(request(0, [1]), empty, {"t": 5, "type": "s"}, request(9, [1, 2]))
    corpus = read_sessions(written(tmp_path / "one.jsonl", whole))
    assert len(corpus.tree(0).turns) == 2
    assert corpus.facts.left_out.rows == {
        "a request without input or output tokens": 1,
        "a request without t or hash_ids": 1,
    }
    other = {**whole, "block_size": 8}
    with pytest.raises(TraceError, match="line 2: blocks of 8 tokens, where"):
        read_sessions(written(tmp_path / "two.jsonl", whole, other))


def test_folder_and_named_format(tmp_path: Path) -> None:
    """A folder is one input; a format can be named, and another input is refused."""
    for name in "ba":
        written(tmp_path / f"{name}.json", conversation(request(0, [1]), name=name))
    corpus = read_sessions(tmp_path, read_form("weka"))
    assert [corpus.tree(number).session_id for number in range(len(corpus))] == ["a", "b"]
    (tmp_path / "other.json").write_text('{"question": "?"}', encoding="utf-8")
    with pytest.raises(TraceError, match=r"known formats are weka.*--trace-format"):
        read_sessions(tmp_path / "other.json")


def test_hits_by_hand(tmp_path: Path) -> None:
    """Of two subagents, the second finds the block of the first; a prompt finds the blocks before it."""
    tree = read_sessions(written(tmp_path / "one.jsonl", with_two_agents(0))).tree(0)
    # By start: 0 of 3, 0 of 2, 1 of 2, 2 of 3, 3 of 6, 6 of 7.
    hits = prefix_hits(tree)
    assert tuple(hits) == (12, 23)
    assert hits.rate == 12 / 23
    assert peak_width(tree) == 1
