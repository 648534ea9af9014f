"""Scored answers to look at: for each benchmark some of each outcome, with texts and judgements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from reporter.contents.texts import (
    NO_TEXT,
    Excerpt,
    excerpt,
    prompt_in_words,
    reference_in_words,
    response_in_words,
)
from reporter.log.database import rows_of
from reporter.log.sql_files import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.log.database import OpenLog
    from reporter.stored_answers import ReadTexts
    from reporter.values.task_score import TaskScore

TABLES: Final = ("questions", "scores", "prompt_events")
"""What has to be loaded of a log first."""

MOST_SAMPLES: Final = 120
"""Of all benchmarks together."""

_FEWEST: Final = 12
"""Of each."""

_LENGTH: Final = 1500
"""Characters of a text."""

SCORED: Final = """\
SELECT task, question_id, attempt, status, value, extracted, reason, tags, prompt
FROM scores
LEFT JOIN prompts ON prompts.prompt_id = scores.prompt_id AND turn = 0
WHERE pass = {number} AND scorer = {scorer} AND task = {task}"""

CORRECT: Final = "correct"
_OUTCOME: Final = f"""
        CASE
            WHEN value IS NULL OR scores.status NOT IN ('scored', 'partial') THEN scores.status
            WHEN value >= $threshold THEN '{CORRECT}'
            WHEN value > 0 THEN 'partial'
            ELSE 'incorrect'
        END"""

_OUTCOMES: Final = f"""
    SELECT question_id, attempt, sample_uuid, {_OUTCOME}
    FROM scores
    WHERE pass = $pass AND task = $task AND scorer = $scorer AND question_id IS NOT NULL"""  # noqa: S608 (a constant)

_CHOSEN: Final = f"""
    SELECT
        sample_uuid,
        {_OUTCOME} AS outcome,
        scores.question_id,
        attempt,
        value,
        extracted,
        reason,
        details,
        scores.tags,
        requests.ended_seq,
        questions.seq AS question_seq,
        prompt_events.seq AS prompt_seq,
        row_number() OVER (PARTITION BY outcome ORDER BY hash(sample_uuid)) AS place,
        count(*) OVER () AS n
    FROM scores
    JOIN questions USING (prompt_id)
    JOIN (SELECT sample_uuid, ended_seq, turn FROM requests) AS requests USING (sample_uuid)
    LEFT JOIN prompt_events
        ON prompt_events.prompt_id = scores.prompt_id AND prompt_events.turn = coalesce(requests.turn, 0)
    WHERE
        pass = $pass AND scores.task = $task AND scorer = $scorer
        AND (len($chosen::VARCHAR[]) = 0 OR sample_uuid IN $chosen::VARCHAR[])
    ORDER BY place, outcome
    LIMIT $limit"""  # noqa: S608 (a constant)

_JUDGED: Final = """
    SELECT judged_uuid, inquiry, arg_max(ended_seq, ended_seq)
    FROM judge_calls
    WHERE judged_uuid IN $chosen AND scorer = $scorer AND status = 'completed'
    GROUP BY ALL
    ORDER BY ALL"""


@dataclass(frozen=True, slots=True)
class ScoredSample:
    """A scored answer.

    Attributes:
        outcome: `correct`, `incorrect`, `partial`, or the status of one that could not be scored.
        attempt: The number of the attempt, from 1.
        extracted: What the grader took for the answer.
        reason: Why it has this outcome.
        answer: The parts of the response, by name.
        judged: What judges said, by inquiry.
    """

    task: str
    outcome: str
    value: float | None
    question_id: str
    attempt: int
    tags: Mapping[str, str]
    extracted: str
    reason: str
    question: Excerpt
    answer: Mapping[str, Excerpt]
    reference: Excerpt
    judged: Mapping[str, Excerpt]


@dataclass(frozen=True, slots=True)
class ScoredSamples:
    """Some of the scored answers.

    Attributes:
        samples: Those that are shown, of each outcome about as many.
        sql: The query that has all of them.
    """

    samples: tuple[ScoredSample, ...]
    n: int
    sql: str


def scored_samples(
    log: OpenLog, scores: Sequence[TaskScore], read: ReadTexts, limit: int = MOST_SAMPLES
) -> ScoredSamples:
    """Some answers of each benchmark, by the first scorer.

    Raises:
        LogError: The log is damaged.
    """
    first = first_scores(scores)
    each = max(_FEWEST, limit // max(len(first), 1))
    samples: list[ScoredSample] = []
    counted, queries = 0, []
    for score in first.values():
        rows = _rows(log, score, each, ())
        samples += _samples(log, score, rows, read)
        counted += rows[0]["n"] if rows else 0
        queries.append(
            SCORED.format(number=score.pass_, scorer=quoted(score.scorer or ""), task=quoted(score.task))
        )
    return ScoredSamples(tuple(samples), counted, "\nUNION ALL\n".join(queries))


def first_scores(scores: Sequence[TaskScore]) -> dict[str, TaskScore]:
    """By benchmark, the score by the first scorer."""
    first: dict[str, TaskScore] = {}
    for score in scores:
        if score.pass_ is not None:
            first.setdefault(score.task, score)
    return first


Asked = tuple[str, int]
"""A question's id and the number of the attempt."""


def outcomes(log: OpenLog, score: TaskScore) -> dict[Asked, tuple[str, str]]:
    """By question and attempt, the id and the outcome of the answer."""
    rows = log.execute(_OUTCOMES, _named(score)).fetchall()
    return {(question, attempt): (uuid, outcome) for question, attempt, uuid, outcome in rows}


def chosen_samples(
    log: OpenLog, score: TaskScore, read: ReadTexts, chosen: Sequence[str]
) -> dict[str, ScoredSample]:
    """The answers with these ids, by id."""
    rows = _rows(log, score, len(chosen), chosen) if chosen else []
    samples = _samples(log, score, rows, read)
    return {row["sample_uuid"]: sample for row, sample in zip(rows, samples, strict=True)}


def _named(score: TaskScore) -> dict[str, Any]:
    return {
        "pass": score.pass_,
        "task": score.task,
        "scorer": score.scorer,
        "threshold": score.pass_threshold,
    }


def _rows(log: OpenLog, score: TaskScore, limit: int, chosen: Sequence[str]) -> list[dict[str, Any]]:
    """At most `limit` answers: those with these ids, or some of each outcome."""
    return rows_of(log.execute(_CHOSEN, {**_named(score), "limit": limit, "chosen": list(chosen)}))


def _samples(
    log: OpenLog, score: TaskScore, rows: Sequence[Mapping[str, Any]], read: ReadTexts
) -> list[ScoredSample]:
    judged = _judged(log, score, [row["sample_uuid"] for row in rows]) if score.judge else {}
    names = ("ended_seq", "question_seq", "prompt_seq")
    seqs = [row[name] for row in rows for name in names if row[name] is not None]
    texts = read([*seqs, *(seq for calls in judged.values() for seq in calls.values())])
    return [_sample(score.task, row, judged.get(row["sample_uuid"], {}), texts) for row in rows]


def _judged(log: OpenLog, score: TaskScore, chosen: list[str]) -> dict[str, dict[str, int]]:
    """The latest reply to each inquiry on each answer, as an event number."""
    log.load({"judge_calls"})
    named = f"{score.task}/{score.scorer}"
    calls: dict[str, dict[str, int]] = {}
    for uuid, inquiry, seq in log.execute(_JUDGED, {"chosen": chosen, "scorer": named}).fetchall():
        calls.setdefault(uuid, {})[inquiry or "judge"] = seq
    return calls


def _sample(
    task: str, row: Mapping[str, Any], judged: Mapping[str, int], texts: Mapping[int, str]
) -> ScoredSample:
    replies = {name: response_in_words(texts.get(seq)).get("output", "") for name, seq in judged.items()} or {
        name: words for name, words in (row["details"] or {}).items() if name == "judge_reply"
    }
    reference = reference_in_words(texts.get(row["question_seq"]))
    question = prompt_in_words(texts.get(row["prompt_seq"]))
    return ScoredSample(
        task=task,
        outcome=row["outcome"],
        value=row["value"],
        question_id=row["question_id"] or "",
        attempt=row["attempt"],
        tags={name: value for name, value in (row["tags"] or {}).items() if name != "task"},
        extracted=(row["extracted"] or "")[:_LENGTH],
        reason=(row["reason"] or "")[:_LENGTH],
        question=NO_TEXT if question is None else excerpt(question, _LENGTH),
        answer={
            name: excerpt(part, _LENGTH)
            for name, part in response_in_words(texts.get(row["ended_seq"])).items()
        },
        reference=NO_TEXT if reference is None else excerpt(reference, _LENGTH),
        judged={name: excerpt(words, _LENGTH) for name, words in replies.items()},
    )
