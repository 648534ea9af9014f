"""`--trace-detail`: every step of every sample of a run, as lines."""

from __future__ import annotations

from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.errors import printable
from reporter.log.database import open_log

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_TRACES: Final = """
    WITH scored AS (SELECT sample_uuid, arg_max(value, pass) AS value FROM scores GROUP BY sample_uuid),

    steps AS (
        SELECT
            coalesce(conversation_id, sample_uuid) AS trace,
            prompt_id,
            turn,
            role AS who,
            coalesce(issued_ns, 0) AS at_ns,
            CASE role WHEN 'model' THEN latency_ms ELSE (ended_ns - issued_ns) / 1e6 END AS took_ms,
            ttft_ms,
            input_tokens,
            output_tokens,
            coalesce(error, finish_reason, nullif(status, 'completed')) AS outcome,
            value
        FROM samples LEFT JOIN scored USING (sample_uuid)
        WHERE phase IN ('performance', 'user_sim') AND status <> 'abandoned'
        UNION ALL
        SELECT
            conversation_id, prompt_id, turn, 'tool ' || name, started_ns, duration_ms,
            NULL, NULL, NULL, error, NULL
        FROM tool_calls
        WHERE phase = 'performance'
    )

    SELECT
        trace,
        concat_ws(': ', questions.task, questions.question_id) AS question,
        steps.prompt_id,
        concat_ws(': ', ending, episode_ends.reason) AS ending,
        score,
        (at_ns - began_ns) / 1e6 AS since_ms,
        steps.turn,
        who,
        took_ms,
        ttft_ms,
        input_tokens,
        output_tokens,
        outcome
    FROM (
        SELECT *, max(value) OVER of_trace AS score, min(at_ns) OVER of_trace AS began_ns
        FROM steps
        WINDOW of_trace AS (PARTITION BY trace)
    ) AS steps
    LEFT JOIN questions USING (prompt_id)
    LEFT JOIN episode_ends ON episode_ends.conversation_id = trace
    ORDER BY began_ns, trace, at_ns, steps.turn"""

_BATCH: Final = 10_000
_TRACE: Final = 5
"""The first columns are those of the trace."""


def trace_lines(run: Path) -> Iterator[str]:
    """The samples in the order in which they began, each with its steps: requests and calls of tools.

    Yields:
        Lines with their ends: one of the sample (what it asks, how its episode ended, its score), then one of
        each step (when after the first one, its turn, who, how long it took, TTFT, tokens, and its outcome).
    """
    with open_log(run, ("scores", "tool_calls")) as log:
        answer = log.execute(_TRACES)
        rows = chain.from_iterable(iter(lambda: answer.fetchmany(_BATCH), []))
        for number, (trace, steps) in enumerate(groupby(rows, lambda row: row[:_TRACE]), 1):
            yield f"\n{number}  {printable(_heading(trace))}\n"
            for step in steps:
                yield f"{printable(_step(step[_TRACE:])).rstrip()}\n"


def _heading(trace: Sequence[Any]) -> str:
    _, question, prompt, ending, score = trace
    asked = question or ("a prompt" if prompt is None else f"prompt {prompt}")
    return "  ".join(filter(None, [asked, ending, "" if score is None else f"score {score:g}"]))


def _step(step: Sequence[Any]) -> str:
    since_ms, turn, who, took_ms, ttft_ms, tokens_in, tokens_out, outcome = step
    cells = [
        f"{'' if since_ms is None else f'+{since_ms:,.0f} ms':>12}",
        f"{'' if turn is None else f'turn {turn}':<8}",
        f"{who:<16}",
        f"{'-' if took_ms is None else f'{took_ms:,.0f} ms':>11}",
        f"{'' if ttft_ms is None else f'TTFT {ttft_ms:,.0f} ms':>15}",
        f"{'' if tokens_in is None else f'{tokens_in:,} in':>11}",
        f"{'' if tokens_out is None else f'{tokens_out:,} out':>11}",
        outcome or "",
    ]
    return "  ".join(cells)
