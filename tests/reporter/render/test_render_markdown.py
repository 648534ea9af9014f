"""Verdicts as Markdown: the summary of a CI job."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from reporter.render import markdown
from reporter.render.named_verdict import NamedVerdict
from tests.facts_of_runs import run_facts

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulesets.verdict import Verdict

    MakeRow = Callable[..., Any]
    Golden = Callable[[str, str], None]


def test_every_outcome_is_in_the_summary(every_kind: Verdict, golden: Golden) -> None:
    """A table of the rules, and under it why and what to do."""
    golden("verdict_kinds.md", markdown.render([NamedVerdict(every_kind, "", run_facts(model="llama"))]))


@given(st.text())
def test_no_text_is_taken_for_markup(a_rule: MakeRow, a_verdict: MakeRow, words: str) -> None:
    """No cell, tag, link or its own mention, and no second line."""
    row = a_rule(words, id=words, reason=words, remedy=words, method=f"by {words}", status="FAIL")
    hostile = markdown.render([NamedVerdict(a_verdict("FAIL", row, notes=[words]), words)])
    tame = markdown.render([NamedVerdict(a_verdict("FAIL", a_rule("x", reason="x", status="FAIL")), "x")])
    tables = [[line for line in text.split("\n") if line.startswith("|")] for text in (hostile, tame)]
    assert [line.count("|") for line in tables[0]] == [line.count("|") for line in tables[1]]
    without_code = re.sub(r"<code>[^<>`]*</code>|<br>", " ", hostile)
    assert not re.search(r"@\w", without_code)
    assert not re.search(r"[<>`]|\]\(|://", re.sub(r"@<!-- -->|&#\d+;", "", without_code))
    assert all(line.isprintable() for line in hostile.split("\n"))


def test_a_mention_is_inert(a_rule: MakeRow, a_verdict: MakeRow) -> None:
    """A comment on a change must not call a team."""
    row = a_rule("a", status="FAIL", reason="ask @team")
    assert "ask @<!-- -->team" in markdown.render([NamedVerdict(a_verdict("FAIL", row))])


def test_it_is_as_long_as_it_may_be(a_rule: MakeRow, a_verdict: MakeRow) -> None:
    """What is too long ends with a whole line and says that there is more."""
    rows = [a_rule(f"ttft:p(99)<{number}ms", reason="ü" * 50, status="FAIL") for number in range(99)]
    parts = [NamedVerdict(a_verdict("FAIL", *rows))]
    whole = markdown.render(parts)
    for limit in (500, 501, 502, 5000, len(whole.encode())):
        cut = markdown.render(parts, most_bytes=limit)
        assert len(cut.encode()) <= limit
        assert cut == whole or (
            cut.endswith("the summary has reached its limit.\n") and whole.startswith(cut[:100])
        )
        assert all(line in whole.split("\n") for line in cut.split("\n")[:-3])
    assert len(markdown.render(parts * 100).encode()) <= 1024 * 1024


def test_several_runs_begin_with_a_table_of_them(a_rule: MakeRow, a_verdict: MakeRow) -> None:
    """A line each, the rules over all of them first; of one run there is nothing to sum up."""
    runs = [
        NamedVerdict(a_verdict("PASS", a_rule()), "one"),
        NamedVerdict(a_verdict("FAIL", a_rule(id="ttft", status="FAIL", reason="no")), "two"),
        NamedVerdict(a_verdict("PASS", a_rule()), "all runs", over_runs=True),
    ]
    assert markdown.render(runs).split("\n")[:6] == [
        "| verdict | run | rules met | did not pass |",
        "| --- | --- | ---: | --- |",
        "| ✅ PASS | all runs | 1 of 1 |  |",
        "| ✅ PASS | one | 1 of 1 |  |",
        "| ❌ FAIL | two | 0 of 1 | ttft |",
        "",
    ]
    assert markdown.render(runs[:1]).startswith("### ")
