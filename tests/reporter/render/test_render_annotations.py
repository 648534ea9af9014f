"""Annotations of GitHub Actions, and what must not be taken for one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.render import annotations
from reporter.render.named_verdict import NamedVerdict
from tests.facts_of_runs import run_facts

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulesets.verdict import Verdict

    MakeRow = Callable[..., Any]
    Golden = Callable[[str, str], None]

COMMAND = re.compile(r"::(error|warning|notice) title=([^:,\r\n]*)::([^\r\n]*)")


def test_every_outcome_has_its_level(every_kind: Verdict, golden: Golden) -> None:
    """What failed is an error, what is not known or only warned of a warning; what passed is not shown."""
    golden(
        "verdict_kinds.annotations.txt",
        annotations.render([NamedVerdict(every_kind, "", run_facts(model="llama"))]),
    )


@pytest.mark.parametrize("count", [0, 1, 10, 11, 40])
def test_there_are_ten_at_most(a_rule: MakeRow, a_verdict: MakeRow, count: int) -> None:
    """The most severe first; the last says how many more there are."""
    rows = [a_rule(f"a{number}", status="INCONCLUSIVE") for number in range(count // 2)]
    rows += [a_rule(f"b{number}", status="FAIL") for number in range(count - count // 2)]
    lines = annotations.render([NamedVerdict(a_verdict("FAIL", *rows))]).splitlines()
    assert len(lines) == min(count, 10)
    assert [line.split()[0] for line in lines] == sorted(line.split()[0] for line in lines)
    if count > 10:
        assert f"::{count - 9} more rules did not pass" in lines[-1]


@given(st.text(), st.text())
def test_no_text_gets_out_of_its_annotation(
    a_rule: MakeRow, a_verdict: MakeRow, name: str, words: str
) -> None:
    """One line, one command, whose title and message are what they were."""
    row = a_rule("t", id=name, reason=words, status="FAIL")
    output = annotations.render([NamedVerdict(a_verdict("FAIL", row))])
    command = COMMAND.fullmatch(output.removesuffix("\n"))
    assert command
    assert unquote(command[2]).isprintable()
    assert all(line.isprintable() for line in unquote(command[3]).split("\n"))


def test_percent_signs_and_lines_are_escaped(a_rule: MakeRow, a_verdict: MakeRow) -> None:
    """As the runner's own tool-kit does."""
    row = a_rule("error:rate<1%", id="a:b,c%", reason="50% of 2", status="FAIL")
    output = annotations.render([NamedVerdict(a_verdict("FAIL", row))])
    assert "title=a%3Ab%2Cc%25::" in output
    assert "%0A50%25 of 2" in output


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("::error::x\n", "\\x3a:error::x\n"),
        ("a\n   ::stop-commands::x", "a\n   \\x3a:stop-commands::x"),
        ("see ##[group]x", "see \\x23#[group]x"),
        ("http://[::1]:8000 a::b", "http://[::1]:8000 a::b"),
    ],
)
def test_output_that_looks_like_a_command_is_not_run(output: str, shown: str) -> None:
    """A server's message may hold one; in the middle of a line two colons are harmless."""
    assert annotations.inert(output) == shown
