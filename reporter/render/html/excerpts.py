"""Single requests and scored answers as sections of a page, as many as there is room for."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from os.path import commonprefix
from typing import TYPE_CHECKING, Final

from reporter.contents import example_requests
from reporter.contents.compared_answers import LOST, MOST_ANSWERS, WON
from reporter.contents.texts import Excerpt
from reporter.json_values import document, members
from reporter.number_text import figure, whole
from reporter.render.html.page import (
    OpenedSample,
    Quote,
    RequestRow,
    Requests,
    ResponseTimeline,
    Samples,
)
from reporter.render.html.visible import visible
from reporter.render.table import Mark, headed, tone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reporter.contents.compared_answers import ComparedAnswers
    from reporter.contents.example_requests import RequestExcerpt
    from reporter.contents.scored import ScoredSample, ScoredSamples
    from reporter.render.table import Cell, Tone

REQUEST_BYTES: Final = 45_000
SAMPLE_BYTES: Final = 105_000
"""The most HTML of a section: a page stays below 800 kB, and says what is left out.

The rests of long texts, which open, take a third as much in addition.
"""

_MARKUP: Final = 1000
"""The HTML of a sample without its texts, in bytes."""

_ABOUT: Final = ("issued at (UTC)", "tags")
_SLOW: Final = headed(
    *(*_ABOUT, "latency ms", "TTFT ms", "TPOT ms", "input tokens", "output tokens"), words=len(_ABOUT)
)
_FAILED: Final = headed(*_ABOUT, "error", "message", "after ms", words=len(_ABOUT) + 2)


def slowest(excerpts: Sequence[RequestExcerpt]) -> Requests:
    """The slowest requests, which open."""
    rows = _rows(
        excerpts,
        lambda excerpt: (
            figure(excerpt.latency_ms),
            figure(excerpt.ttft_ms),
            figure(excerpt.tpot_ms),
            whole(excerpt.input_tokens),
            whole(excerpt.output_tokens),
        ),
    )
    note = f"The {len(rows)} slowest measured requests. Click a time for prompt, output and chunks. {_WHOLE}"
    return _shortened(Requests("slowest", "Slowest requests", _SLOW, rows, note, example_requests.SLOWEST))


def failed(excerpts: Sequence[RequestExcerpt], of: int) -> Requests:
    """Failed requests, which open."""
    rows = _rows(
        excerpts,
        lambda excerpt: (
            excerpt.error or "",
            (excerpt.message or "")[:_MESSAGE],
            figure(excerpt.ended_ms),
        ),
    )
    note = f"{len(rows)} of {whole(of)} failed requests, the first of each error."
    return _shortened(Requests("failed", "Failed requests", _FAILED, rows, note, example_requests.FAILED))


_MESSAGE: Final = 200
_WHOLE: Final = "loadgen request RUN ID shows one in full."
_DATE: Final = len("2026-01-01")
_TO_THE_MILLISECOND: Final = len("2026-01-01 00:00:00.000")


def _shortened(table: Requests) -> Requests:
    """The table with a common date in the note alone, and without a column of tags that is empty."""
    cells = [row.cells for row in table.rows]
    columns, note = table.columns, table.note
    dates = {str(first)[:_DATE] for first, *_ in cells}
    if len(dates) == 1:
        cells = [(str(first)[_DATE + 1 :], *others) for first, *others in cells]
        note = f"{note} Date: {dates.pop()}."
    if not any(tags for _, tags, *_ in cells):
        cells = [(first, *others) for first, _, *others in cells]
        columns = (columns[0], *columns[2:])
    rows = tuple(replace(row, cells=of_row) for row, of_row in zip(table.rows, cells, strict=True))
    return replace(table, columns=columns, rows=rows, note=note)


def _rows(
    excerpts: Iterable[RequestExcerpt], cells: Callable[[RequestExcerpt], tuple[Cell, ...]]
) -> tuple[RequestRow, ...]:
    """An expandable row for each request: time of issue, tags, and further cells."""
    return tuple(
        RequestRow(
            excerpt.sample_uuid,
            (excerpt.issued_at[:_TO_THE_MILLISECOND], _tags(excerpt), *cells(excerpt)),
            timeline(excerpt),
            quotes,
        )
        for excerpt, quotes in _with_quotes(excerpts)
    )


def samples(scored: ScoredSamples) -> Samples:
    """Scored answers to browse."""
    made, room, rests = [], SAMPLE_BYTES, _Rests(SAMPLE_BYTES // 3)
    instructions = common_beginnings(scored.samples)
    for sample in scored.samples:
        quotes = tuple(map(rests.fit, _sample_quotes(sample)))
        room -= _MARKUP + _bytes(quotes)
        if room < 0:
            break
        made.append(_sample(sample, quotes, instructions[sample.task]))
    note = f"{len(made)} of {whole(scored.n)} scored answers, chosen evenly from all outcomes."
    return Samples("samples", "Samples", tuple(made), note, scored.sql)


def compared(scored: ComparedAnswers, labels: Sequence[str]) -> Samples:
    """The answers of two runs to common questions."""
    made, room, rests = [], SAMPLE_BYTES, _Rests(SAMPLE_BYTES // 3)
    instructions = common_beginnings(answer.sides[0] for answer in scored.answers)
    for answer in scored.answers:
        first = answer.sides[0]
        of_sides = [tuple(map(rests.fit, _sample_quotes(side))) for side in answer.sides]
        shared = tuple(quote for quote in of_sides[0] if quote.label in _OF_BOTH)
        sides = [tuple(quote for quote in quotes if quote.label not in _OF_BOTH) for quotes in of_sides]
        room -= _MARKUP + _bytes(shared) + sum(map(_bytes, sides))
        if room < 0:
            break
        texts = dict(zip(labels, map(_answer, answer.sides), strict=True))
        outcomes = dict(zip(labels, (side.outcome for side in answer.sides), strict=True))
        sample = _sample(first, shared, instructions[first.task])
        made.append(
            replace(
                sample,
                status=Mark(answer.change, _TONES.get(answer.change, "dim")),
                tags={**outcomes, **sample.tags},
                row_texts={**texts, "reference": sample.row_texts["reference"]},
                sides=dict(zip(labels, sides, strict=True)),
            )
        )
    counts = ", ".join(
        f"{whole(scored.counts[change])} {change}" for change in MOST_ANSWERS if scored.counts.get(change)
    )
    note = (
        f"{whole(sum(scored.counts.values()))} answers to the same questions: {counts}. {len(made)} are here."
    )
    return Samples("answers", "Answers to the same questions", tuple(made), note)


_OF_BOTH: Final = frozenset({"Question", "Reference"})
_TONES: Final[Mapping[str, Tone]] = {LOST: "bad", WON: "good"}


def _with_quotes(excerpts: Iterable[RequestExcerpt]) -> Iterator[tuple[RequestExcerpt, tuple[Quote, ...]]]:
    """Each request with texts; without texts once the section is full."""
    room, rests = REQUEST_BYTES, _Rests(REQUEST_BYTES // 3)
    for excerpt in excerpts:
        quotes = tuple(map(rests.fit, request_quotes(excerpt)))
        room -= _bytes(quotes)
        yield excerpt, quotes if room >= 0 else (_quote("Texts", "left out: the section is full"),)


def request_quotes(excerpt: RequestExcerpt) -> Iterator[Quote]:
    """The facts and the texts of a request."""
    facts = {
        "request": excerpt.sample_uuid,
        "endpoint": excerpt.endpoint,
        "HTTP status": excerpt.http_status,
        "finish reason": excerpt.finish_reason,
        "tags": _tags(excerpt) or None,
    }
    yield _quote(
        "Request", "\n".join(f"{name}: {value}" for name, value in facts.items() if value is not None)
    )
    if excerpt.error is not None:
        yield _quote("Error", f"{excerpt.error}: {excerpt.message or ''}")
    yield Quote("Prompt", excerpt.prompt)
    for name, part in excerpt.response.items():
        yield Quote(name.capitalize(), part)


def _sample_quotes(sample: ScoredSample) -> Iterator[Quote]:
    yield Quote("Question", sample.question)
    for name, part in sample.answer.items():
        yield Quote("Answer" if name == "output" else name.capitalize(), part)
    yield _quote("Extracted", sample.extracted)
    yield Quote("Reference", sample.reference)
    value = "" if sample.value is None else f", value {sample.value:.4g}"
    reason = f": {sample.reason}" if sample.reason else ""
    yield _quote("Verdict", f"{sample.outcome}{value}{reason}")
    for name, words in sample.judged.items():
        yield Quote("Judge" if len(sample.judged) == 1 else f"Judge, {name}", words)


def _sample(sample: ScoredSample, quotes: tuple[Quote, ...], instruction: int) -> OpenedSample:
    return OpenedSample(
        task=sample.task,
        status=Mark(sample.outcome, tone(sample.outcome)),
        question=sample.question_id,
        asked=_one_line(sample.question.text[instruction:]),
        tags=_tags_of(sample),
        row_texts={"answer": _answer(sample), "reference": _one_line(sample.reference.text)},
        quotes=quotes,
    )


def _tags_of(sample: ScoredSample) -> Mapping[str, str]:
    return {**sample.tags, **({"attempt": f"attempt {sample.attempt}"} if sample.attempt > 1 else {})}


def _answer(sample: ScoredSample) -> str:
    """The answer that the grader extracted; for a judge the whole answer; else the end of the answer."""
    output = " ".join(sample.answer["output"].text.split()) if "output" in sample.answer else ""
    if sample.judged and output:
        return _one_line(output)
    return _one_line(sample.extracted) or (f"…{output[-_IN_A_ROW:]}" if output else "")


def common_beginnings(scored: Iterable[ScoredSample]) -> Mapping[str, int]:
    """By benchmark, the number of characters of the questions' common beginning, up to a line's end."""
    texts: dict[str, list[str]] = {}
    for sample in scored:
        texts.setdefault(sample.task, []).append(sample.question.text)
    return {
        task: commonprefix(of_task).rfind("\n") + 1 if len(set(of_task)) > 1 else 0  # noqa: RUF071 (no paths)
        for task, of_task in texts.items()
    }


_ASKED: Final = 110
_IN_A_ROW: Final = 60


def _one_line(text: str) -> str:
    """The beginning of a text without line ends."""
    words = " ".join(text[: 2 * _ASKED].split())
    return words if len(words) <= _ASKED else f"{words[: _ASKED - 1]}…"


def timeline(excerpt: RequestExcerpt) -> ResponseTimeline:
    """When the parts of a response arrived."""
    return ResponseTimeline(
        *(excerpt.waited_ms, excerpt.first_ms, excerpt.ended_ms, excerpt.chunks_ms, excerpt.chunks),
        upload_ms=excerpt.upload_ms,
    )


def _tags(excerpt: RequestExcerpt) -> str:
    return ", ".join(f"{name}={value}" for name, value in members(document(excerpt.tags)).items())


def _quote(label: str, text: str) -> Quote:
    return Quote(label, Excerpt(text, len(text)))


def _bytes(quotes: Iterable[Quote]) -> int:
    """The size of the texts in the page, in bytes."""
    return sum(_size(quote.text.text) for quote in quotes)


def _size(text: str) -> int:
    return len(escape(visible(text)).encode())


class _Rests:
    """The room for the rests of long texts; a rest that does not fit is left out, later ones may fit."""

    def __init__(self, room: int) -> None:
        self._room = room

    def fit(self, quote: Quote) -> Quote:
        """The text, without the rest where the section is full."""
        size = _size(quote.text.rest)
        if size > self._room:
            return replace(quote, text=replace(quote.text, rest=""))
        self._room -= size
        return quote
