"""Replayed sessions of agents, compared with what a server with a prefix cache has recorded."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.mock_endpoint.process import start_mock
from loadgen.mock_endpoint.scenarios.catalog import SCENARIOS
from loadgen.plugins.agentic.prefix_hits import prefix_hits
from loadgen.plugins.agentic.reading import read_sessions
from loadgen.plugins.selftest.row_result import Miss, RowResult, Times
from loadgen.plugins.selftest.run_rows import run_rows
from loadgen.plugins.selftest.selftest_row import ConformanceRow
from workloads.synthetic.text_length import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from loadgen.mock_endpoint.truth import Truth
    from loadgen.plugins.agentic.session_corpus import SessionCorpus

SESSIONS: Final = replace(
    SCENARIOS["plain"],
    name="sessions",
    about="a prefix cache; sessions with two subagents, two sessions at a time",
    protocols=("chat",),
)
_SESSIONS: Final = 4
_AT_A_TIME: Final = 2
_SPEED: Final = 200.0
_BLOCK: Final = 13
_TOKENS: Final = 16
_NS_PER_MS: Final = 1e6

_Turn = tuple[int, int]
"""A session and one of its turns, by number."""

_ASKED: Final = """
    SELECT
        prompt_id, turn, sample_uuid, coalesce(error, status) AS seen, ttft_ms, last_token_ms, output_tokens
    FROM samples ORDER BY issued_ns
"""


def try_sessions(transport: str, folder: Path) -> RowResult:
    """Replay sessions over a transport, and compare the log with the server's record.

    Args:
        transport: The transport.
        folder: A new folder for the trace, the log and the server's truth.

    Raises:
        MockSetupError: The server did not start.
        WriterError, LogError: The log could not be written, or read.
    """
    folder.mkdir(parents=True)
    trace = folder / "trace.jsonl"
    trace.write_bytes(b"".join(orjson.dumps(_session(n)) + b"\n" for n in range(_SESSIONS)))
    with start_mock(
        ttft="5ms",
        itl="1ms",
        tokens=f"{_TOKENS}",
        cache_blocks=0,
        block_tokens=words_of(_BLOCK),
        truth=folder / "truth.jsonl",
    ) as mock:
        asked = run_rows(
            folder / "run",
            _ASKED,
            url=[mock.url],
            model="mock",
            trace=str(trace),
            trace_speed=_SPEED,
            concurrency=_AT_A_TIME,
            transport=transport,
        )
        truth = {each.request_id: each for each in mock.truth()}
    served = [truth[row["sample_uuid"]] for row in asked if row["sample_uuid"] in truth]
    misses = (
        _misses(read_sessions(trace), asked, truth) if len(served) == len(asked) else ("not all arrived",)
    )
    return RowResult(
        ConformanceRow(SESSIONS, "chat", transport),
        _times([(each.chunk_ns[0], each.chunk_ns[-1], each.received_ns) for each in served if each.chunk_ns]),
        Times(
            ttft=median(row["ttft_ms"] or 0.0 for row in asked) if asked else None,
            last=median(row["last_token_ms"] or 0.0 for row in asked) if asked else None,
        ),
        Counter(row["seen"] for row in asked),
        tuple(sorted({row["output_tokens"] for row in asked if row["output_tokens"] is not None})),
        tuple(map(Miss, misses)),
    )


def _misses(
    corpus: SessionCorpus, asked: Sequence[Mapping[str, Any]], truth: Mapping[str | None, Truth]
) -> Iterator[str]:
    """Each way in which the replay differs from the sessions."""
    served = {(row["prompt_id"], row["turn"]): truth[row["sample_uuid"]] for row in asked}
    trees = [corpus.tree(number) for number in range(len(corpus))]
    wanted = {(number, turn) for number, tree in enumerate(trees) for turn in range(len(tree.turns))}
    if served.keys() != wanted or len(asked) != len(wanted):
        yield f"{len(asked)} requests, not each of {len(wanted)} turns once"
        return
    if failed := sum(not each.chunk_ns or each.outcome != "completed" for each in served.values()):
        yield f"{failed} requests failed"
        return
    early = [place for place in wanted if _is_early(corpus, place, served)]
    if early:
        yield f"{len(early)} turns left before the end of what they wait for"
    if (peak := _most_at_a_time(served)) > _AT_A_TIME:
        yield f"{peak} sessions at a time, not {_AT_A_TIME}"
    hits, blocks = map(sum, zip(*map(prefix_hits, trees), strict=True))
    hit = sum(each.hit_blocks for each in served.values())
    sent = sum(each.input_tokens // words_of(_BLOCK) for each in served.values())
    if (hit, sent) != (hits, blocks):
        yield f"{hit} of {sent} blocks of prompts were cached, not {hits} of {blocks}"


def _is_early(corpus: SessionCorpus, place: _Turn, served: Mapping[_Turn, Truth]) -> bool:
    """Whether a turn arrived before the answers that it waits for had left, plus its delay."""
    session, number = place
    turn = corpus.tree(session).turns[number]
    ends = [_left_ns(served[session, before]) for before in turn.after]
    return bool(ends) and served[place].received_ns < max(ends) + turn.delay_ns / _SPEED


def _most_at_a_time(served: Mapping[_Turn, Truth]) -> int:
    """The most sessions at one time, from the arrival of the first request to the end of the last answer."""
    steps = []
    for session in {session for session, _ in served}:
        own = [each for (number, _), each in served.items() if number == session]
        steps += [(min(each.received_ns for each in own), 1), (max(map(_left_ns, own)), -1)]
    level = peak = 0
    for _, step in sorted(steps):
        level += step
        peak = max(peak, level)
    return peak


def _left_ns(truth: Truth) -> int:
    """The moment right before the write with the last token and the end of the stream."""
    return truth.chunk_ns[-1]


def _times(stamps: Sequence[tuple[int, int, int]]) -> Times:
    """The median times of the first and the last token, in ms from the arrival of the request."""
    if not stamps:
        return Times()
    return Times(
        ttft=median(first - received for first, _, received in stamps) / _NS_PER_MS,
        last=median(last - received for _, last, received in stamps) / _NS_PER_MS,
    )


def _session(number: int) -> dict[str, Any]:
    """A recorded session: two turns, two subagents that the third turn waits for, and a fourth turn."""
    return {
        "id": f"session {number}",
        "block_size": _BLOCK,
        "hash_id_scope": "local",
        "tool_tokens": _BLOCK,
        "system_tokens": _BLOCK,
        "requests": [
            _request(0, [1, 2, 3]),
            _request(4, [1, 2, 3, 4, 5]),
            _subagent(6, "a", [_request(0, [20, 21]), _request(3, [20, 21, 22])]),
            _subagent(6, "b", [_request(1, [20, 30])]),
            _request(14, [1, 2, 3, 4, 5, 6]),
            _request(20, [1, 2, 7]),
        ],
    }


def _subagent(at_s: float, name: str, requests: Sequence[dict[str, Any]]) -> dict[str, Any]:
    named = {"agent_id": name, "subagent_type": "Explore", "status": "completed"}
    tokens = {"tool_tokens": _BLOCK, "system_tokens": 0}
    return {"t": at_s, "type": "subagent", **named, **tokens, "requests": requests}


def _request(at_s: float, blocks: Sequence[int]) -> dict[str, Any]:
    tokens = {"in": _BLOCK * len(blocks), "out": _TOKENS, "hash_ids": blocks}
    return {"t": at_s, "type": "s", "model": "m", **tokens, "api_time": 2.0}
