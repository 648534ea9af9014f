"""LiveResearchBench: research tasks of users, answered with a report (arXiv:2510.14240).

A judge looks at five sides of a report: presentation (ten fixed questions) and coverage (the task's
checklist) are shares, consistency and citation are marks by the number of issues, depth is a comparison with
a reference report, in both orders. The value of a sample is the mean of those that were judged; officially
the five stand alone, each the mean of two judges.
"""

from __future__ import annotations

from datetime import UTC, datetime
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.json_answer import object_between_braces
from loadgen.plugins.evals.headlines import metric_means
from loadgen.plugins.evals.judging.judge_prompts import judge_prompts
from loadgen.plugins.evals.tasks import baseline
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import tag, text
from workloads.errors import ColumnError
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, pending, unreadable
from workloads.scorer import Headline, Inquiry, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from workloads.answer import Answer
    from workloads.sources import FileRow
    from workloads.workload import Inputs

_PROMPTS: Final = judge_prompts("liveresearchbench")
_PRESENTATION_QUESTIONS: Final = 10
_SHARES: Final = ("presentation", "coverage")
_MARKS: Final = ("consistency", "citation")
_DEPTH: Final = ("depth_ab", "depth_ba")
_OURS: Final = {"depth_ab": "A", "depth_ba": "B"}
"""The place of the report that is judged, in each order."""
_FULL_MARKS: Final = 100


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a task; each row of a task has one checklist item."""
    moment = datetime.now(UTC)
    date = inputs.options["date"] or f"{moment:%B %d, %Y}"
    reports = {_qid(path): path for path in inputs.paths("reference")} if inputs.options["depth"] else {}
    for index, (qid, rows) in enumerate(_by_task(inputs.rows).items()):
        first = rows[0]
        query = text(first, "question_no_placeholder")
        tags = {"category": tag(first, "category")}
        reference: dict[str, Any] = {
            "query": query,
            "date": date,
            "checklist": [
                item
                for row in rows
                if isinstance(item := row["checklist_no_placeholder"], str) and item.strip()
            ],
        }
        if inputs.options["depth"]:
            if qid not in reports:
                raise ColumnError(
                    f"{first.place}: there is no reference report of this task; "
                    "liveresearchbench:depth=no leaves out what needs one"
                )
            reference["report"] = reports[qid].read_text(encoding="utf-8")
        yield Question(qid, Sample(index, query, tags=tags), reference)


def _by_task(rows: Iterator[FileRow]) -> dict[str, list[FileRow]]:
    tasks: dict[str, list[FileRow]] = {}
    for row in rows:
        tasks.setdefault(tag(row, "qid").removeprefix("qid_"), []).append(row)
    return tasks


def _qid(path: Path) -> str:
    return path.stem.removeprefix("qid_").removesuffix("_report")


def ask(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
    """Each side of the report; depth in both orders where there is a reference report."""
    texts = {"query": reference["query"], "report": answer.text}
    checklist = "\n".join(f"- q{number}: {item}" for number, item in enumerate(reference["checklist"], 1))
    asked = [
        _inquiry("presentation", reference, texts),
        *([_inquiry("coverage", reference, {**texts, "checklist": checklist})] if checklist else []),
        *(_inquiry(name, reference, texts) for name in _MARKS),
    ]
    if "report" in reference:
        pair = {
            "depth_ab": (answer.text, reference["report"]),
            "depth_ba": (reference["report"], answer.text),
        }
        asked += [
            _inquiry(key, reference, {"query": reference["query"], "report_a": first, "report_b": second})
            for key, (first, second) in pair.items()
        ]
    return asked


def _inquiry(key: str, reference: Reference, texts: Mapping[str, str]) -> Inquiry:
    prompt = _PROMPTS.prompts[key.partition("_")[0]]
    system, user = prompt.messages(**texts)
    dated = {**system, "content": system["content"].replace("{date}", reference["date"])}
    return Inquiry(key, (dated, user), extra_body={"response_format": {"type": "json_object"}})


def grade(reference: Reference, answer: Answer) -> Score:
    """The mean of the sides."""
    keys = [inquiry.key for inquiry in ask(reference, answer)]
    if any(key not in answer.judged for key in keys):
        return pending()
    replies = {key: object_between_braces(answer.judged[key]) or {} for key in keys}
    sides = {key: _side(key, reply, reference) for key, reply in replies.items()}
    unread = [key for key, value in sides.items() if value is None]
    if unread:
        return unreadable(f"JSON as asked for ({', '.join(unread)})", *(answer.judged[key] for key in unread))
    values = {key: value for key, value in sides.items() if value is not None}
    judged = {key: value for key, value in values.items() if key not in _DEPTH}
    if "report" in reference:
        decided = [values[key] for key in _DEPTH]
        judged["depth"] = fmean(decided)
        values |= {"wins": float(decided.count(1.0)), "losses": float(decided.count(0.0))}
    shown = ", ".join(f"{name} {value:.2f}" for name, value in judged.items())
    return graded(fmean(judged.values()), shown, "", **values)


def _side(key: str, reply: Mapping[str, Any], reference: Reference) -> float | None:
    """A side of the report, from 0 to 1; None if absent from the judge's reply."""
    if key in _SHARES:
        count = _PRESENTATION_QUESTIONS if key == "presentation" else len(reference["checklist"])
        return _share(reply.get("evaluations"), count)
    if key in _MARKS:
        mark = reply.get("score")
        return mark / _FULL_MARKS if isinstance(mark, int) and not isinstance(mark, bool) else None
    winner = reply.get("winner")
    if winner not in {"A", "B", "tie"}:
        return None
    return 0.5 if winner == "tie" else float(winner == _OURS[key])


def _share(evaluations: Any, count: int) -> float | None:
    """Of the questions, those with the score 1; one that is missing has 0, and one too many counts."""
    try:
        return sum(int(item["score"]) for item in evaluations.values()) / count
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


WORKLOAD: Final = benchmark(
    "liveresearchbench",
    questions,
    baseline.liveresearchbench(),
    official=ScoreRule(
        grade,
        headlines=(
            Headline("sides"),
            *metric_means(*_SHARES, *_MARKS),
            Headline(
                "depth_win_rate", "sum(metrics['wins']) / nullif(sum(metrics['wins'] + metrics['losses']), 0)"
            ),
        ),
        ask=ask,
        judge=_PROMPTS.label,
    ),
)
