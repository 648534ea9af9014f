"""Verdicts as JUnit XML, which the parsers of CI systems have to accept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.render import junit
from reporter.render.named_verdict import NamedVerdict
from tests.facts_of_runs import run_facts

if TYPE_CHECKING:
    from collections.abc import Callable
    from xml.etree.ElementTree import Element

    from rulesets.verdict import Verdict

    MakeRow = Callable[..., Any]
    Golden = Callable[[str, str], None]

CHILDREN = {
    "testsuites": ["testsuite"],
    "testsuite": ["properties", "testcase", "system-out", "system-err"],
    "testcase": ["properties", "skipped", "error", "failure", "system-out", "system-err"],
    "properties": ["property"],
}
"""What an element holds, in this order: the schema of Ant's JUnit task, and properties of a test case."""
ATTRIBUTES: dict[str, tuple[set[str], set[str]]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors", "skipped"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "time", "timestamp", "hostname"},
        {"id", "skipped"},
    ),
    "testcase": ({"name", "classname", "time"}, set()),
    "property": ({"name", "value"}, set()),
    "failure": ({"type"}, {"message"}),
    "error": ({"type"}, {"message"}),
    "skipped": (set(), {"message"}),
}
"""What an element must have, and what it may."""
RUN = run_facts(model="llama", started_at="2026-03-01T09:30:00.125Z", url="http://127.0.0.1:8000/v1")


def require_valid(text: str) -> Element:
    """Hold a document against the schema, the types of attributes and the sums of its counts included."""
    root = ET.fromstring(text.encode())  # noqa: S314 (it was written here)
    assert root.tag == "testsuites"
    for element in root.iter():
        must, may = ATTRIBUTES.get(element.tag, (set(), set()))
        assert must <= set(element.attrib) <= must | may, element.tag
        places = [CHILDREN.get(element.tag, []).index(child.tag) for child in element]
        assert places == sorted(places)
        for name in {"tests", "failures", "errors", "skipped", "id"} & set(element.attrib):
            assert element.attrib[name].isdecimal()
    for suite in root:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.attrib["timestamp"])
        assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))
        for kind, counted in {"failure": "failures", "error": "errors", "skipped": "skipped"}.items():
            assert int(suite.attrib[counted]) == len(suite.findall(f"testcase/{kind}"))
        for case in suite.iter("testcase"):
            assert len([child for child in case if child.tag in {"skipped", "error", "failure"}]) <= 1
    for counted in ("tests", "failures", "errors", "skipped"):
        assert int(root.attrib[counted]) == sum(int(suite.attrib[counted]) for suite in root)
    return root


def test_every_outcome_is_a_test_case(every_kind: Verdict, golden: Golden) -> None:
    """One a rule, with its figures as properties, and one for what makes the run invalid."""
    text = junit.render([NamedVerdict(every_kind, "", RUN, 12.31)])
    suite = require_valid(text)[0]
    assert len(suite.findall("testcase")) == len(every_kind.rows) + 1
    golden("verdict_kinds.xml", text)


@pytest.mark.parametrize(
    ("status", "severity", "kind"),
    [
        ("PASS", "fail", None),
        ("FAIL", "fail", "failure"),
        ("FAIL", "warn", None),
        ("FAIL", "info", None),
        ("INVALID", "fail", "error"),
        ("INCONCLUSIVE", "fail", "error"),
        ("SKIP", "fail", "skipped"),
    ],
)
def test_the_kinds_of_outcome(
    a_rule: MakeRow, a_verdict: MakeRow, status: str, severity: str, kind: str | None
) -> None:
    """A miss is a failure, what could not be found out is an error; a warning fails no job."""
    verdict = a_verdict(status, a_rule(status=status, severity=severity, reason="so", remedy="do"))
    case = require_valid(junit.render([NamedVerdict(verdict, "", RUN)])).find("*/testcase")
    assert case is not None
    assert case.attrib["classname"] == "llama.default"
    outcome = next((child for child in case if child.tag in {"skipped", "error", "failure"}), None)
    assert (outcome.tag if outcome is not None else None) == kind
    if outcome is not None:
        assert outcome.attrib["message"] == "so"
        assert outcome.text == (None if kind == "skipped" else "so\ndo")
    assert "so\ndo" in (case.findtext("system-out") or "") or status == "PASS"


def test_the_figures_are_properties(a_rule: MakeRow, a_verdict: MakeRow) -> None:
    """To the last digit, for programs that read them."""
    row = a_rule(observed=87.07123456789, limit=101.5)
    verdict = a_verdict("PASS", row, model="llama-70b", scenario="server")
    case = require_valid(junit.render([NamedVerdict(verdict, "", RUN)])).find("*/testcase")
    assert case is not None
    assert case.attrib["classname"] == "llama-70b.server"
    properties = {item.attrib["name"]: item.attrib["value"] for item in case.iter("property")}
    assert float(properties["observed"]) == 87.07123456789
    assert float(properties["confidence_limit"]) == 101.5
    assert {"bound", "unit", "n", "method", "margin"} <= set(properties)


def test_a_case_keeps_its_name_when_the_bound_changes(a_rule: MakeRow, a_verdict: MakeRow) -> None:
    """The history of a test goes on; the bound is a property. Names of one subject are numbered."""
    names = []
    for bound in (500, 400):
        rules = [a_rule(f"ttft:p(99)<{text}") for text in (f"{bound}ms", f"{bound}ms@es99", "1s!warn")]
        root = require_valid(junit.render([NamedVerdict(a_verdict("PASS", *rules), "", RUN)]))
        names.append([case.attrib["name"] for case in root.iter("testcase")])
    assert names == [["ttft:p(99)", "ttft:p(99) (2)", "ttft:p(99)!warn"]] * 2


def test_runs_of_a_series_are_suites(a_rule: MakeRow, a_verdict: MakeRow) -> None:
    """Each under its name, and no two cases are called alike."""
    parts = [NamedVerdict(a_verdict("PASS", a_rule()), f"rate-{rate}", RUN) for rate in (1, 2)]
    root = require_valid(junit.render(parts))
    assert [suite.attrib["name"] for suite in root] == ["rate-1", "rate-2"]
    assert len({case.attrib["name"] for case in root.iter("testcase")}) == 2


def test_an_invalid_run_whose_rules_passed_has_an_error(a_rule: MakeRow, a_verdict: MakeRow) -> None:
    """Or a CI system would show nothing but passed tests."""
    root = require_valid(junit.render([NamedVerdict(a_verdict("INVALID", a_rule(), reasons=["too late"]))]))
    assert [error.attrib["message"] for error in root.iter("error")] == ["too late"]


def test_a_verdict_of_nothing_has_an_error(a_rule: MakeRow, a_verdict: MakeRow) -> None:
    """A verdict whose rules are all skipped is not a success."""
    root = require_valid(junit.render([NamedVerdict(a_verdict("INCONCLUSIVE", a_rule(status="SKIP")))]))
    assert len(list(root.iter("error"))) == 1


@given(st.text())
def test_no_text_makes_it_invalid(a_rule: MakeRow, a_verdict: MakeRow, words: str) -> None:
    """Whatever a rule, a reason or a name holds."""
    row = a_rule(words, id=words, reason=words, remedy=words, method=words, status="FAIL")
    verdict = a_verdict("FAIL", row, reasons=[words], notes=[words], model=words, scenario=words)
    require_valid(junit.render([NamedVerdict(verdict, words, run_facts(model=words))]))
