"""Single requests to look at: the slowest and the first failures, with texts and chunks."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from reporter.contents.texts import NO_TEXT, Excerpt, excerpt, prompt_in_words, response_in_words
from reporter.log.database import rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.log.database import OpenLog
    from reporter.stored_answers import ReadTexts

TABLES: Final = ("prompt_events",)
"""What has to be loaded of a log first."""

MOST_SLOW: Final = 20
MOST_FAILED: Final = 10
_MOST_CHUNKS: Final = 240
_PROMPT: Final = 1500
_OUTPUT: Final = 2500
"""Characters of a text."""

SLOWEST: Final = f"""\
SELECT sample_uuid, latency_ms, ttft_ms, tpot_ms, input_tokens, output_tokens, tags, wall_time(issued_ns)
FROM samples
WHERE measured AND status = 'completed'
ORDER BY latency_ms DESC, sample_uuid
LIMIT {MOST_SLOW}"""  # noqa: S608 (a number)

FAILED: Final = f"""\
SELECT sample_uuid, error, error_message, (ended_ns - issued_ns) / 1e6 AS until_ms, tags, wall_time(issued_ns)
FROM (
    SELECT *, row_number() OVER (PARTITION BY error ORDER BY issued_ns, sample_uuid) AS number
    FROM samples
    WHERE measured AND status = 'failed'
)
ORDER BY number, error
LIMIT {MOST_FAILED}"""  # noqa: S608 (a number)
"""The first of each kind, then the second of each, and so on."""

_MORE: Final = """
    SELECT
        samples.sample_uuid,
        samples.status,
        error,
        error_message,
        http_status,
        finish_reason,
        endpoint,
        coalesce(samples.tags::VARCHAR, '{}') AS tags,
        wall_time(issued_ns)::VARCHAR AS issued_at,
        latency_ms,
        ttft_ms,
        tpot_ms,
        input_tokens,
        output_tokens,
        (coalesce(sent_ns, issued_ns) - coalesce(scheduled_ns, issued_ns)) / 1e6 AS waited_ms,
        (ended_ns - coalesce(sent_ns, issued_ns)) / 1e6 AS ended_ms,
        (first_token_ns - coalesce(sent_ns, issued_ns)) / 1e6 AS first_ms,
        upload_ms,
        chunks.gaps_us,
        chunks.ended_seq,
        prompt_events.seq AS prompt_seq
    FROM samples
    JOIN (
        SELECT sample_uuid, chunk_gaps_us AS gaps_us, ended_seq FROM requests WHERE sample_uuid IN $chosen
    ) AS chunks USING (sample_uuid)
    LEFT JOIN prompt_events
        ON prompt_events.prompt_id = samples.prompt_id AND prompt_events.turn = coalesce(samples.turn, 0)
    WHERE samples.sample_uuid IN $chosen"""


@dataclass(frozen=True, slots=True)
class RequestExcerpt:
    """One request. Times are in ms; None for stages that the request did not reach.

    Attributes:
        status: `completed` or `failed`.
        issued_at: When it was issued, in UTC.
        waited_ms: From the schedule to the first byte sent.
        first_ms: From there to the first token.
        upload_ms: The time in which the request was sent.
        ended_ms: To the end.
        chunks_ms: To each chunk with a token; of many, evenly spaced ones.
        response: The parts of its response, by name.
    """

    sample_uuid: str
    status: str
    error: str | None
    message: str | None
    http_status: int | None
    finish_reason: str | None
    endpoint: str | None
    tags: str
    issued_at: str
    latency_ms: float | None
    ttft_ms: float | None
    tpot_ms: float | None
    input_tokens: int | None
    output_tokens: int | None
    waited_ms: float
    first_ms: float | None
    upload_ms: float | None
    ended_ms: float | None
    chunks_ms: tuple[float, ...]
    chunks: int
    prompt: Excerpt
    response: Mapping[str, Excerpt]


def slowest(log: OpenLog, narrow: OpenLog, read: ReadTexts) -> tuple[RequestExcerpt, ...]:
    """The requests with the longest latencies, the slowest first.

    Args:
        log: An opened log with `TABLES`.
        narrow: The same, which finds them faster.
        read: From `reporter.stored_answers.texts_of`.

    Raises:
        LogError: The log is damaged.
    """
    return excerpts(log, [uuid for uuid, *_ in narrow.execute(SLOWEST).fetchall()], read)


def failed(log: OpenLog, narrow: OpenLog, read: ReadTexts) -> tuple[RequestExcerpt, ...]:
    """The first failed requests of each kind of failure; the arguments are those of `slowest`."""
    return excerpts(log, [uuid for uuid, *_ in narrow.execute(FAILED).fetchall()], read)


def excerpts(log: OpenLog, chosen: Sequence[str], read: ReadTexts) -> tuple[RequestExcerpt, ...]:
    """The requests with these ids; the other arguments are those of `slowest`."""
    if not chosen:
        return ()
    rows = {row["sample_uuid"]: row for row in rows_of(log.execute(_MORE, {"chosen": chosen}))}
    seqs = [seq for row in rows.values() for seq in (row["ended_seq"], row["prompt_seq"]) if seq is not None]
    texts = read(seqs)
    return tuple(_request(rows[uuid], texts) for uuid in chosen)


def _request(row: dict[str, Any], texts: Mapping[int, str]) -> RequestExcerpt:
    gaps_us: Sequence[int] = row.pop("gaps_us") or ()
    response = response_in_words(texts.get(row.pop("ended_seq")))
    prompt = prompt_in_words(texts.get(row.pop("prompt_seq")))
    message = row.pop("error_message")
    return RequestExcerpt(
        **row,
        message=None if message is None else message[:_PROMPT],
        chunks_ms=_thinned([offset_us / 1e3 for offset_us in accumulate(gaps_us)]),
        chunks=len(gaps_us),
        prompt=NO_TEXT if prompt is None else excerpt(prompt, _PROMPT),
        response={name: excerpt(part, _OUTPUT) for name, part in response.items()},
    )


def _thinned(offsets_ms: Sequence[float]) -> tuple[float, ...]:
    """At most `_MOST_CHUNKS` offsets, including the first and the last."""
    if len(offsets_ms) <= _MOST_CHUNKS:
        return tuple(offsets_ms)
    step = (len(offsets_ms) - 1) / (_MOST_CHUNKS - 1)
    return tuple(offsets_ms[round(number * step)] for number in range(_MOST_CHUNKS))
