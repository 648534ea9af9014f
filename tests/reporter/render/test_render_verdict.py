"""A verdict alone, as a gate prints it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from reporter.render import verdict_table
from reporter.render.named_verdict import NamedVerdict
from tests.facts_of_runs import run_facts

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulesets.verdict import Verdict

    MakeRow = Callable[..., Any]
    Golden = Callable[[str, str], None]


def test_a_verdict_that_passes(a_rule: MakeRow, a_verdict: MakeRow, golden: Golden) -> None:
    """A verdict that passes is a headline and its rules."""
    rules = a_verdict(
        "PASS",
        a_rule(),
        a_rule("qps>=100req/s", observed=123.87, bound=100.0, unit="req/s", margin=0.2387),
        a_rule("completed:count>=1000", observed=7435.0, bound=1000.0, unit="", margin=6.435),
    )
    golden("verdict_pass.txt", verdict_table.render([NamedVerdict(rules)], width=80))


def test_a_verdict_on_an_invalid_run(a_rule: MakeRow, a_verdict: MakeRow, golden: Golden) -> None:
    """A run that is invalid says why before it shows any rule."""
    rules = a_verdict(
        "INVALID",
        a_rule(
            "min_duration_s: 60",
            id="validity.min_duration_s",
            observed=12.31,
            bound=60.0,
            unit="s",
            status="INVALID",
            margin=-0.7948,
            reason="the window = 12.31 s; required: >= 60 s",
        ),
        a_rule(),
        reasons=["The client was late: issue lag p99 is 12.5 ms, beside a TTFT p99 of 87.1 ms."],
    )
    golden("verdict_invalid.txt", verdict_table.render([NamedVerdict(rules)], width=80))


@pytest.mark.parametrize("width", [140, 100, 60, 40])
def test_every_outcome_is_shown(every_kind: Verdict, golden: Golden, width: int) -> None:
    """Each rule with its figures; why and what to do where it did not pass; changes, notes, sources."""
    golden(f"verdict_kinds.{width}.txt", verdict_table.render([NamedVerdict(every_kind)], width=width))


@pytest.mark.parametrize("width", [140, 100, 60, 40])
def test_nothing_unsafe_reaches_the_terminal(every_kind: Verdict, width: int) -> None:
    """No control character of a rule's text, and no line that is wider than the page."""
    page = verdict_table.render([NamedVerdict(every_kind)], width=width)
    assert all(line.isprintable() for line in page.splitlines())
    assert max(map(len, page.splitlines())) <= width


def test_several_runs_have_a_verdict_each(a_rule: MakeRow, a_verdict: MakeRow, golden: Golden) -> None:
    """Each stands under the name of its run."""
    parts = [
        NamedVerdict(a_verdict("PASS", a_rule()), "concurrency-1", over_runs=True),
        NamedVerdict(
            a_verdict("FAIL", a_rule(status="FAIL", reason="it is not")), "concurrency-2", over_runs=True
        ),
    ]
    golden("verdict_several.txt", verdict_table.render(parts, width=80))


@pytest.mark.parametrize(
    ("observed", "bound", "shown"),
    [
        (87.0744, 500.0, "87.1 ms"),
        (499.96, 500.0, "499.96 ms"),
        (500.0, 500.0, "500 ms"),
        (500.0000001, 500.0, "500.0000001 ms"),
        (0.00042, 0.01, "0.000420 ms"),
        (7435.0, 1.0, "7,435 ms"),
    ],
)
def test_a_figure_has_digits_that_distinguish_it_from_its_bound(
    a_rule: MakeRow,
    a_verdict: MakeRow,
    observed: float,
    bound: float,
    shown: str,
) -> None:
    """A figure near its bound has enough digits to show on which side it is."""
    text = verdict_table.render([NamedVerdict(a_verdict("PASS", a_rule(observed=observed, bound=bound)))])
    assert f" {shown}  " in text


def a_series(a_rule: MakeRow, a_verdict: MakeRow, rules: int) -> list[NamedVerdict]:
    """Six runs with `rules` rules each, of which one missed all of them, and the rules over all runs."""
    passes = [a_rule(id=f"rule-{number}") for number in range(rules)]
    misses = [replace(row, status="FAIL", reason="it is not", remedy="do") for row in passes]
    runs = [
        NamedVerdict(a_verdict("PASS", *passes), f"concurrency-{number}", run_facts(model="m"))
        for number in range(1, 6)
    ]
    return [
        *runs,
        NamedVerdict(a_verdict("FAIL", *misses), "concurrency-6", run_facts(model="m")),
        NamedVerdict(
            a_verdict("PASS", a_rule("points >= 6", id="sweep.points.min")), "all runs", over_runs=True
        ),
    ]


def test_a_series_is_a_line_a_run(a_rule: MakeRow, a_verdict: MakeRow, golden: Golden) -> None:
    """The rules over all runs as a table, a line a run, and what one of them missed where that is little."""
    golden("verdict_series.txt", verdict_table.render(a_series(a_rule, a_verdict, 2), width=80))


def test_a_long_series_stays_readable(a_rule: MakeRow, a_verdict: MakeRow) -> None:
    """Where much was missed it is named, and shown only on request; the same for a run that passed."""
    parts = a_series(a_rule, a_verdict, 60)
    page = verdict_table.render(parts)
    assert len(page.splitlines()) < 30
    assert "rule-0, rule-1, rule-2, rule-3, and 56 more" in page
    assert "--full" in page
    full = verdict_table.render(parts, full=True)
    assert full.count("concurrency-6\n") == 1
    assert len(full.splitlines()) > 6 * 60
    assert "--full" not in full


def test_a_remedy_of_several_rules_is_shown_once(a_rule: MakeRow, a_verdict: MakeRow) -> None:
    """Under the last of those that follow each other."""
    rows = [a_rule(id=name, status="FAIL", reason="no", remedy="ask: --extra-body '{}'") for name in "ab"]
    page = verdict_table.render([NamedVerdict(a_verdict("FAIL", *rows))])
    assert page.count("--extra-body") == 1
    assert page.index("--extra-body") > page.index("b\n")


def test_the_sources_of_rules_are_listed_once(a_rule: MakeRow, a_verdict: MakeRow) -> None:
    """Those of the ruleset first, then those that only a rule names."""
    rows = [a_rule(id=name, source=f"of {name}") for name in "ab"]
    page = verdict_table.render([NamedVerdict(a_verdict("PASS", *rows, source=["its own", "of a"]))])
    assert [page.count(source) for source in ("its own", "of a", "of b")] == [1, 1, 1]
