"""report.json: valid JSON whatever the report holds, key by key the report."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

from reporter.render import json as render_json
from reporter.report import Finding, Report
from reporter.report_schema import report_schema
from tests.facts_of_runs import run_facts

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeReport = Callable[..., Report]


def test_a_good_run_as_json(a_report: MakeReport, golden: Callable[[str, str], None]) -> None:
    """The keys are in the order of the Report, indented by two spaces per level."""
    golden("good.json", render_json.render(a_report()))


def test_keys_and_their_order(a_report: MakeReport) -> None:
    """Every field of the Report is a key of the JSON, in its order; some only where there is something."""
    optional = {"server_side", "cache_hits", "sessions", "energy", "episodes", "nodes", "sections"}
    keys = [name for name in Report.__dataclass_fields__ if name not in optional]
    assert list(json.loads(render_json.render(a_report()))) == keys


def test_it_is_valid_by_its_schema(a_report: MakeReport) -> None:
    """What is written follows the schema that is published."""
    jsonschema.validate(json.loads(render_json.render(a_report())), report_schema())


def test_a_figure_that_is_not_finite_is_null(a_report: MakeReport) -> None:
    """JSON has no NaN and no Infinity."""
    latency = a_report().latency_ms
    assert latency is not None
    text = render_json.render(a_report(latency_ms=replace(latency, mean=math.nan, std=None, max=math.inf)))
    read = json.loads(text, parse_constant=lambda name: name)["latency_ms"]
    assert (read["mean"], read["std"], read["max"]) == (None, None, None)


def test_figures_keep_nanoseconds(a_report: MakeReport) -> None:
    """Milliseconds are rounded to six decimals, no coarser."""
    latency = a_report().latency_ms
    assert latency is not None
    report = a_report(latency_ms=replace(latency, min=0.1 + 0.2, p50=1068.1234567))
    read = json.loads(render_json.render(report))["latency_ms"]
    assert (read["min"], read["p50"]) == (0.3, 1068.123457)


@given(message=st.text() | st.text(alphabet='\x1b\x7f\x9b\u00ad\u202e\u2028\u2066\ufeff\n"\\é模'))
def test_texts_come_back_and_are_safe_to_print(a_report: MakeReport, message: str) -> None:
    """A text survives the way through JSON, and nothing in it can move a cursor or turn the line round."""
    text = render_json.render(a_report(findings=[Finding("x", "info", message)]))
    assert json.loads(text)["findings"][0]["message"] == message
    assert not any(char in text for char in "\x1b\x7f\x9b\u00ad\u202e\u2028\u2066\ufeff")


def test_a_lone_surrogate_does_not_stop_the_report(a_report: MakeReport) -> None:
    """What has no UTF-8 becomes a question mark."""
    text = render_json.render(a_report(run=run_facts(model="\ud800x")))
    assert json.loads(text)["run"]["model"] == "?x"
