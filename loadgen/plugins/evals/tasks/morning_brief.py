"""Morning brief: schedule, conflicts and priorities from calendar, tasks and mails. Data of our own."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.headlines import metric_shares
from loadgen.plugins.evals.prompts import prompt
from loadgen.plugins.evals.tasks.benchmarks import benchmark
from loadgen.plugins.evals.tasks.use_cases import difficulty, graded_parts, judged, official
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, unparsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workloads.answer import Answer
    from workloads.scorer import Reference
    from workloads.sources import FileRow
    from workloads.workload import Inputs

MOST_WORDS: Final = 60
_SECTIONS: Final = ("SUMMARY", "SCHEDULE", "CONFLICTS", "PRIORITIES")

_SYSTEM: Final = prompt("morning_brief", "system")

_HEADING: Final = re.compile(rf"[#*\s]*({'|'.join(_SECTIONS)})[*:\s]*")
_BULLET: Final = r"\s*(?:[-*•]\s*|\d+[.)]\s+)?"
_EVENT: Final = re.compile(rf"{_BULLET}(\d?\d:\d\d)\s*\[(\w+)\].*")
_PAIR: Final = re.compile(rf"{_BULLET}\[(\w+)\]\W*\[(\w+)\].*")
_ITEM: Final = re.compile(rf"{_BULLET}\[(\w+)\].*")
_FIGURES: Final = ("schedule", "conflicts", "priorities", "short")


def questions(inputs: Inputs) -> Iterator[Question]:
    """The day of a question."""
    for index, row in enumerate(inputs.rows):
        asked = _day(row)
        reference = {**expected(row), "asked": asked, "criteria": row["criteria"]}
        yield Question(row["id"], Sample(index, asked, _SYSTEM, tags=difficulty(row)), reference)


def _day(row: FileRow) -> str:
    parts = {
        "Calendar": [
            f"[{event['id']}] {event['start']}-{event['end']} {event['title']}" for event in row["events"]
        ],
        "Tasks": [
            f"[{task['id']}] due {task['due']}, {task['state']}: {task['text']}" for task in row["tasks"]
        ],
        "Mails": [f"[{mail['id']}] {mail['sender']}: {mail['text']}" for mail in row["mails"]],
    }
    lists = "\n\n".join("\n".join([f"{name}:", *(lines or ["none"])]) for name, lines in parts.items())
    return f"Today is {row['today']}. Weather: {row['weather']}.\n\n{lists}"


def expected(row: FileRow) -> dict[str, Any]:
    """The three lists of a day, from the facts after all mails (`truth`).

    Returns:
        `schedule`, pairs of time and id; `conflicts`, pairs of ids; `priorities`, ids.
    """
    truth, today = row["truth"], row["today"]
    spans = {event["id"]: (event["start"], event["end"]) for event in row["events"]} | truth["events"]
    held = sorted((*span, name) for name, span in spans.items() if span is not None)
    tasks = {task["id"]: task["due"] for task in row["tasks"] if task["state"] == "open"}
    deadlines = {name: due for name, due in (tasks | truth["tasks"] | truth["mails"]).items() if due}
    ends = {name: due if " " in due else f"{due} 24:00" for name, due in deadlines.items()}
    return {
        "schedule": [[start, name] for start, _, name in held],
        "conflicts": [
            [first, second] for (_, end, first), (start, _, second) in combinations(held, 2) if start < end
        ],
        "priorities": sorted((name for name in ends if ends[name] <= f"{today} 24:00"), key=ends.__getitem__),
    }


def grade(reference: Reference, answer: Answer) -> Score:
    """Right where the three lists are, and the summary is there and short."""
    sections = _sections(answer.text)
    if sections is None:
        wanted = ", ".join(_SECTIONS)
        return unparsed(f"the headings {wanted} are not there in this order", **dict.fromkeys(_FIGURES, 0.0))
    schedule = _matches(_EVENT, sections["SCHEDULE"])
    conflicts = _matches(_PAIR, sections["CONFLICTS"])
    priorities = _matches(_ITEM, sections["PRIORITIES"])
    words = len(" ".join(sections["SUMMARY"]).split())
    right = {
        "schedule": schedule is not None and _in_order(schedule) == sorted(reference["schedule"]),
        "conflicts": conflicts is not None
        and sorted(map(sorted, conflicts)) == sorted(map(sorted, reference["conflicts"])),
        "priorities": priorities is not None and [name for (name,) in priorities] == reference["priorities"],
        "short": 0 < words <= MOST_WORDS,
    }
    reasons = {
        **{name: f"{name}: {_shown(reference[name])}" for name in ("schedule", "conflicts", "priorities")},
        "short": f"a summary of {words} words",
    }
    taken = " | ".join(" / ".join(line.strip() for line in sections[name]) for name in _SECTIONS[1:])
    return graded_parts(right, reasons, taken)


def _sections(text: str) -> dict[str, list[str]] | None:
    """The lines of each section; None unless the headings are there, each once, in order."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        heading = _HEADING.fullmatch(line)
        if heading is not None:
            if heading[1] in sections:
                return None
            lines = sections[heading[1]] = []
        elif line.strip():
            lines.append(line)
    return sections if tuple(sections) == _SECTIONS else None


def _matches(pattern: re.Pattern[str], lines: Sequence[str]) -> list[tuple[str, ...]] | None:
    """The match of a pattern in each line; None for any other line. `none` alone is an empty section."""
    if [line.strip(" -*.`").casefold() for line in lines] == ["none"]:
        return []
    matches = [pattern.fullmatch(line) for line in lines]
    return [match.groups() for match in matches if match] if lines and all(matches) else None


def _in_order(schedule: Sequence[tuple[str, ...]]) -> list[list[str]] | None:
    """The events by time and id (equal times have no order); None for falling times."""
    events = [[time.zfill(5), name] for time, name in schedule]
    times = [time for time, _ in events]
    return sorted(events) if times == sorted(times) else None


def _shown(items: Sequence[Any]) -> str:
    return ", ".join(item if isinstance(item, str) else " ".join(item) for item in items) or "none"


WORKLOAD: Final = benchmark(
    "morning_brief",
    questions,
    official(
        grade,
        "schedule, conflicts and priorities are right, and the summary is short",
        *metric_shares(*_FIGURES),
    ),
    judged(grade),
)
