"""Security scanner: weaknesses of a piece of code, by CWE and line; some has none. Data of our own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.json_answer import json_in
from loadgen.plugins.evals.tasks.benchmarks import benchmark
from loadgen.plugins.evals.tasks.use_cases import difficulty, official
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, unparsed
from workloads.scorer import Headline, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workloads.answer import Answer
    from workloads.workload import Inputs

_SYSTEM: Final = """\
You look for security weaknesses in code. Reply with one JSON list and nothing else, one object per weakness:
[{"cwe": "CWE-…", "line": the number of the vulnerable line, from 1}]
Reply [] if there is none. Report each weakness once, and only what can be exploited in the code as it is."""

_CWE: Final = re.compile(r"(?:cwe)?[-_ :]*0*(\d{1,5})", re.IGNORECASE)


def questions(inputs: Inputs) -> Iterator[Question]:
    """One piece of code a question, with line numbers."""
    for index, row in enumerate(inputs.rows):
        lines = row["code"].rstrip("\n").split("\n")
        shown = "\n".join(f"{number:>3}  {line}" for number, line in enumerate(lines, start=1))
        asked = f"```{row['language']}\n{shown}\n```"
        tags = {**difficulty(row), "language": row["language"], "clean": "no" if row["findings"] else "yes"}
        yield Question(row["id"], Sample(index, asked, _SYSTEM, tags=tags), {"findings": row["findings"]})


def grade(reference: Reference, answer: Answer) -> Score:
    """F1 of the findings: one is right where CWE and line are, and counts once; both lists empty is 1."""
    reported = json_in(answer.text, list)
    wanted = reference["findings"]
    if reported is None or not all(isinstance(report, dict) for report in reported):
        return unparsed("no JSON list of objects", found=0, reported=0, wanted=len(wanted))
    left, hits = list(wanted), 0
    for report in reported:
        hit = next((finding for finding in left if _is(finding, report)), None)
        if hit is not None:
            left.remove(hit)
            hits += 1
    value = 2 * hits / (len(reported) + len(wanted)) if reported or wanted else 1.0
    missed = ", ".join(f"{finding['cwe'][0]} in line {finding['lines'][0]} missed" for finding in left)
    false = len(reported) - hits
    reason = "; ".join(filter(None, (missed, f"{false} false or repeated" if false else "")))
    taken = ", ".join(f"{report.get('cwe')}:{report.get('line')}" for report in reported)
    return graded(value, taken, reason, found=hits, reported=len(reported), wanted=len(wanted))


def _is(finding: Mapping[str, Any], report: Mapping[str, Any]) -> bool:
    """Whether a finding matches a report: one of the CWEs, in one of the lines."""
    number = _CWE.fullmatch(str(report.get("cwe", "")).strip())
    line = report.get("line")
    if number is None or isinstance(line, bool) or not isinstance(line, int):
        return False
    first, last = finding["lines"]
    return f"CWE-{number[1]}" in finding["cwe"] and first <= line <= last


WORKLOAD: Final = benchmark(
    "security_scanner",
    questions,
    official(
        grade,
        "F1 of (CWE, line), a mean over the pieces of code",
        Headline("precision", "coalesce(sum(metrics['found']) / nullif(sum(metrics['reported']), 0), 0)"),
        Headline("recall", "coalesce(sum(metrics['found']) / nullif(sum(metrics['wanted']), 0), 0)"),
        Headline("clean_kept", "avg(value) FILTER (tags['clean'] = 'yes')"),
        score="f1",
    ),
)
