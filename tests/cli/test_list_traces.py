"""`loadgen list traces FILE`: what a trace is, as text and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.plugins.agentic.weka_files import conversation, request, subagent, with_two_agents, written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.preloaded import Process

    Loadgen = Callable[..., Process]

TEXT = """\
format            Weka
times in          s
history           cumulative
tokens per block  4
sessions          3
requests          12
streams           6
depth             1
width             1
input tokens      144
output tokens     48
prefix hits       0.4857 (17 of 35 blocks)
left out          a request without t or hash_ids: 1 row
note              1 of 3 subagents have requests after the start of the turn that joins them; the turn waits \
for them all the same
"""

FLAT = """\
format            timed trace
times in          s
tokens per block  16
requests          2
input tokens      64
output tokens     5
prefix hits       0.2500 (1 of 4 blocks)
"""


def test_recorded_sessions(loadgen: Loadgen, tmp_path: Path) -> None:
    """Sessions with subagents: counts, widths, tokens and hits, and what the reader left out or noticed."""
    plain = conversation(request(0, [1, 2, 3]), {"t": 1}, request(9, [1, 2, 3, 4], tail=2), name="plain")
    late = conversation(
        request(0, [1]),
        subagent(2, "a", [request(1, [9]), request(9, [9])]),
        request(5, [1, 2]),
        name="late",
    )
    path = written(tmp_path / "sessions.jsonl", with_two_agents(0), plain, late)
    shown = loadgen("list", "traces", path)
    assert (shown.stdout, shown.stderr) == (TEXT, "")
    summary: dict[str, Any] = json.loads(loadgen("list", "traces", path, "--json").stdout)
    assert summary["prefix_hit_rate"] == 17 / 35
    assert (summary["sessions"], summary["depth"], summary["width"]) == (3, 1, 1)


def test_requests_without_sessions(loadgen: Loadgen, tmp_path: Path) -> None:
    """A trace of requests has no sessions, and its hits are those of a cache that all share."""
    path = tmp_path / "flat.jsonl"
    rows = [(0.5, [1, 2]), (1.5, [1, 3])]
    path.write_text(
        "".join(
            json.dumps(
                {"timestamp": at_s, "input_length": 32, "output_length": 2 + (at_s > 1), "hash_ids": ids}
            )
            + "\n"
            for at_s, ids in rows
        ),
        encoding="utf-8",
    )
    assert loadgen("list", "traces", path, "--trace-format", "timed,unit=s").stdout == FLAT


def test_mistakes(loadgen: Loadgen, tmp_path: Path) -> None:
    """A missing name, an unknown history and an unknown format are a user's mistakes."""
    assert "loadgen list traces FILE" in loadgen("list", "traces").stderr
    assert "'fanot=1': not NAME=VALUE" in loadgen("list", "traces", "--agentic", "fanot=1").stderr
    assert "--history all: must be one of" in loadgen("list", "traces", "x", "--history", "all").stderr
    wrong = loadgen("list", "traces", tmp_path, "--trace-format", "weca")
    assert "no format 'weca'; did you mean 'weka'?" in wrong.stderr
    assert wrong.returncode == 2


MADE_UP = """\
format            agentic
times in          s
history           cumulative
tokens per block  64
sessions          2
requests          6
streams           2
depth             0
width             1
input tokens      1,920
output tokens     384
prefix hits       0.5333 (16 of 30 blocks)
across sessions   0.6000
"""


def test_made_up_sessions(loadgen: Loadgen) -> None:
    """Made-up sessions have a summary without being sent."""
    form = "sessions=2 themes=1 turns=3 system=128 task=64 result=64 output=64 user=0 fanout=0"
    assert loadgen("list", "traces", "--agentic", form).stdout == MADE_UP
