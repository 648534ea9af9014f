"""Verdicts as JUnit XML: one test case per rule, which every CI system shows.

`FAIL` is a failure; `INVALID` and `INCONCLUSIVE` are errors, as they decide nothing; `SKIP` is skipped. A
rule that may be missed without failing the run is not a failure: the miss is in its output. The
elements, their order and their attributes are those of the Apache Ant JUnit format, with the `properties`
of a test case that pytest and Jenkins have in addition.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from reporter.render import rule_in_words
from reporter.render.console_page import clean
from reporter.render.named_verdict import met, ruleset_of
from reporter.render.table import plain
from rulesets.expression import subject

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reporter.render.named_verdict import NamedVerdict
    from reporter.values.task_score import TaskScore
    from rulesets.verdict import VerdictRow

_KINDS: Final = {"FAIL": "failure", "INVALID": "error", "INCONCLUSIVE": "error", "SKIP": "skipped"}
_PROPERTIES: Final = (
    *("observed", "bound", "unit", "n", "method", "margin"),
    *("group", "severity", "source"),
)
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(parts: Sequence[NamedVerdict]) -> str:
    """The verdicts as one document, a test suite each, with an XML declaration; UTF-8 when encoded."""
    whole = Element("testsuites", name="loadgen gate")
    for number, part in enumerate(parts):
        whole.append(_suite(part, number))
    for name in ("tests", "failures", "errors", "skipped"):
        whole.set(name, str(sum(int(suite.get(name, "0")) for suite in whole)))
    whole.set("time", _seconds(sum(part.duration_s or 0.0 for part in parts)))
    indent(whole)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(whole, encoding="unicode") + "\n"


def _suite(part: NamedVerdict, number: int) -> Element:
    cases = [_case(part, row, name) for row, name in zip(part.rows, _names(part.rows), strict=True)]
    if part.verdict is None:
        cases += [_score_case(part, score) for score in part.accuracy]
    if why := list(_other_reasons(part)):
        cases.append(_whole(part, why))
    if part.accepted:
        cases.append(_accepted(part))
    tags = [child.tag for case in cases for child in case]
    suite = Element(
        "testsuite",
        id=str(number),
        name=_text(part.name or part.where),
        tests=str(len(cases)),
        failures=str(tags.count("failure")),
        errors=str(tags.count("error")),
        skipped=str(tags.count("skipped")),
        time=_seconds(part.duration_s or 0.0),
        timestamp=_text(((part.run and part.run.started_at) or "1970-01-01T00:00:00")[:19]),
        hostname="localhost",
    )
    _add_properties(suite, dict(_of_suite(part)))
    suite.extend(cases)
    return suite


def _of_suite(part: NamedVerdict) -> Iterator[tuple[str, Any]]:
    yield "status", part.label
    yield "ruleset", ruleset_of(part.verdict)
    yield "rules", met(part.rows)
    for name in ("overrides", "notes", "source"):
        yield name, "; ".join(getattr(part.verdict, name, ()))
    for name in ("model", "url", "session_id"):
        yield f"run.{name}", getattr(part.run, name, None)
    if part.accuracy:
        from reporter.render.score_tables import titled

        for score in part.accuracy:
            for name, value in _headline(score).items():
                yield f"score.{titled(score)}{name}", value


def _headline(score: TaskScore) -> dict[str, Any]:
    """The first figure of a score, by the suffix of the property's name."""
    first = next(iter(score.headlines.values()))
    return {
        "": first.value,
        ".low": first.interval and first.interval.low,
        ".high": first.interval and first.interval.high,
        ".n": score.issued,
        ".unscored": score.unscored,
    }


def _score_case(part: NamedVerdict, score: TaskScore) -> Element:
    """A score of which nothing was required: a test that passes, for readers that show no properties."""
    from reporter.render.score_tables import interval_in_words, titled, value_in_words

    first = next(iter(score.headlines.values()))
    name = f"{part.name}: {titled(score)}" if part.name else titled(score)
    case = Element("testcase", name=_text(clean(name)), classname=_text(part.where), time="0.000")
    interval = interval_in_words(first.interval, first.unit)
    within = f" (95 % interval {interval})" if interval else ""
    value = value_in_words(first.value, first.unit)
    unscored = f", {score.unscored} unscored" if score.unscored else ""
    SubElement(case, "system-out").text = _text(f"{value}{within}, n = {score.issued}{unscored}")
    return case


def _names(rows: Sequence[VerdictRow]) -> Iterator[str]:
    """What each rule is about: a name that stays when the bound changes, as histories of tests need."""
    named: Counter[str] = Counter()
    for row in rows:
        name = subject(row.id)
        named[name] += 1
        yield name if named[name] == 1 else f"{name} ({named[name]})"


def _case(part: NamedVerdict, row: VerdictRow, name: str) -> Element:
    name = clean(f"{part.name}: {name}" if part.name else name)
    case = Element("testcase", name=_text(name), classname=_text(part.where), time="0.000")
    _add_properties(
        case,
        {
            "rule": row.target,
            **{name: getattr(row, name) for name in _PROPERTIES},
            "confidence_limit": row.limit,
        },
    )
    kind = _KINDS.get(row.status)
    if kind == "failure" and row.severity != "fail":
        kind = None
    if kind is not None:
        _add_outcome(case, kind, row.status, rule_in_words.why(row))
    SubElement(case, "system-out").text = _text(_described(row))
    return case


def _whole(part: NamedVerdict, why: Sequence[str]) -> Element:
    """The reasons for an invalid run as a test case: without one the file would look passed."""
    name = f"{part.name}: validity" if part.name else "validity"
    case = Element("testcase", name=_text(name), classname=_text(part.where), time="0.000")
    named = f"{part.label}: {why[0]}" if part.label != part.status else why[0]
    _add_outcome(case, "error", part.label, [named, *why[1:]])
    return case


def _accepted(part: NamedVerdict) -> Element:
    """Why the run is invalid, which the user accepted: a test that passes, and says so."""
    name = f"{part.name}: validity" if part.name else "validity"
    case = Element("testcase", name=_text(name), classname=_text(part.where), time="0.000")
    SubElement(case, "system-out").text = _text("\n".join(map(clean, part.accepted)))
    return case


def _other_reasons(part: NamedVerdict) -> Iterator[str]:
    if part.verdict is None:
        return
    yield from part.reasons
    grave = {row.status for row in part.rows if row.severity == "fail"}
    if part.status not in grave | {"PASS"} and not part.reasons:
        yield f"the verdict is {part.status}"


def _add_outcome(case: Element, kind: str, status: str, why: Sequence[str]) -> None:
    first = why[0] if why else status
    outcome = SubElement(case, kind, message=_text(clean(first)))
    if kind != "skipped":
        outcome.set("type", status)
        outcome.text = _text("\n".join(map(clean, why or [status])))


def _described(row: VerdictRow) -> str:
    """The rule in words, for readers that show no properties."""
    table = rule_in_words.table([row])
    status, target, *figures = map(plain, table.rows[0])
    named = (f"{column.title} {figure}" for column, figure in zip(table.columns[2:], figures, strict=True))
    lines = [f"{status}  {target}", ", ".join(named), *rule_in_words.why(row)]
    return "\n".join(map(clean, lines))


def _add_properties(element: Element, values: Mapping[str, Any]) -> None:
    properties_to_add = {name: value for name, value in values.items() if value not in {None, ""}}
    if properties_to_add:
        properties = SubElement(element, "properties")
        for name, value in properties_to_add.items():
            shown = repr(value) if isinstance(value, float) else clean(value)
            SubElement(properties, "property", name=name, value=_text(shown))


def _seconds(value: float) -> str:
    return f"{value:.3f}"


def _text(value: str) -> str:
    """Text for XML, with escapes for forbidden characters."""
    return _NOT_XML.sub(lambda char: char[0].encode("unicode_escape").decode("ascii"), value)
