"""The short form of a target."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets import METRICS, ExpressionError, RulesetError, Target, parse, unparse


@st.composite
def targets(draw: st.DrawFn) -> Target:
    """Draw any target that the short form can carry."""
    metric = draw(st.sampled_from(sorted(METRICS)))
    quantity = METRICS[metric]
    unit = draw(st.sampled_from(sorted(quantity.units)))
    greatest = 0.999 / float(quantity.units[unit]) if quantity.kind == "error" else 1e300
    target = Target.of(
        metric=metric,
        stat=draw(st.sampled_from(quantity.stats)),
        op=draw(st.sampled_from(quantity.ops)),
        value=draw(st.floats(min_value=0, max_value=greatest)),
        unit=unit,
        severity=draw(st.sampled_from(["fail", "warn", "info"])),
    )
    return replace(target, id=unparse(target))


def attempt(text: str) -> Target | ExpressionError:
    """Read a short form into a target or an error."""
    try:
        return parse(text)
    except ExpressionError as error:
        return error


@given(target=targets())
def test_what_is_written_is_read_back(target: Target) -> None:
    """Writing a target and reading it gives the same target."""
    assert parse(unparse(target)) == target


@given(text=st.text(alphabet="tfpqserorlay:()<>=!%.0159 {}@-µ\n", max_size=30))
def test_no_text_breaks_the_reader(text: str) -> None:
    """Any text is a target that can be written again, or an error that points into the text."""
    read = attempt(text)
    if isinstance(read, Target):
        assert parse(unparse(read)) == read
    else:
        assert 1 <= read.column <= len(text) + 1


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("ttft:p(99)<500ms", "ttft:p(99)<500ms"),
        ("  ttft : p( 99.90 ) < 5e2 us ! warn ", "ttft:p(99.9)<500us!warn"),
        ("qps>=10", "qps:value>=10req/s"),
        ("rps > 1.50 req/s", "qps:value>1.5req/s"),
        ("tps:value>=5000", "output_tps:value>=5000tok/s"),
        ("e2e:avg<=1.5m", "latency:mean<=1.5m"),
        ("tpot:med<.05s!info", "tpot:p(50)<0.05s!info"),
        ("error<1%", "error:rate<1%"),
        ("error:rate<=0.01", "error:rate<=0.01"),
        ("failed!=0", "failed:count!=0"),
        ("completed==1000!fail", "completed:count==1000"),
    ],
)
def test_a_short_form_has_one_canonical_spelling(written: str, canonical: str) -> None:
    """White space, aliases and defaults are all resolved; the canonical spelling is the target's id."""
    target = parse(written)
    assert unparse(target) == canonical
    assert target.id == canonical


HOW = (
    "a requirement is METRIC:STAT OP NUMBER UNIT, then !warn or !info if it must not fail the run, "
    "for example 'ttft:p(99)<500ms' or 'error<1%'"
)
ALL = (
    "ttft, ttfo, ttfv, ttfb, tpot, itl, latency, latency_from_schedule, ttft_from_schedule, "
    "ttfo_from_schedule, ttfv_from_schedule, ttfb_from_schedule, last_token, last_token_from_schedule, "
    "held, issue_lag, send_lag, connect, qps, output_tps, total_tps, error, issued, completed, failed, "
    "cancelled, e2e, tps or rps"
)
FRACTION = "the error rate is a fraction below 1; for one in a hundred write 1% or 0.01"

MISTAKES = {
    # What was written, where it goes wrong, and what is said.
    "": (1, f"a metric is missing; {HOW}"),
    "ttft": (5, f"an operator is missing; {HOW}"),
    "ttft:p(99)": (11, f"an operator is missing; {HOW}"),
    "ttft:p(99)<": (12, f"a number is missing; {HOW}"),
    "ttft:p(99)<fast": (12, f"a number is missing before 'fast'; {HOW}"),
    "ttft:p(99)<nanms": (12, f"a number is missing before 'nanms'; {HOW}"),
    "ttf:p(99)<1s": (1, "there is no metric 'ttf'; did you mean 'ttft'?"),
    " TTFT:p(99)<1s": (2, "there is no metric 'TTFT'; did you mean 'ttft'?"),
    "throughput>5": (1, f"there is no metric 'throughput'; choose one of {ALL}"),
    "ttft<500ms": (
        5,
        "ttft needs a statistic: mean, min, max, p(50), p(90), p(95), p(99) or p(99.9)",
    ),
    "ttft:<500ms": (
        6,
        "ttft needs a statistic: mean, min, max, p(50), p(90), p(95), p(99) or p(99.9)",
    ),
    "ttft:avrg<5ms": (6, "ttft has no statistic 'avrg'; did you mean 'avg'?"),
    "ttft:p(99<500ms": (6, "ttft has no statistic 'p(99'; did you mean 'p(99)'?"),
    "qps:p(99)>1": (5, "qps has no statistic 'p(99)'; there is only 'value'"),
    "ttft: p(97) <1s": (
        7,
        "the report does not hold p(97); it holds p(50), p(90), p(95), p(99) and p(99.9)",
    ),
    "ttft:p(99)<500": (15, "500 of what? ttft needs a unit: us, ms, s or m"),
    "ttft:p(99)<500 msec": (16, "ttft has no unit 'msec'; did you mean 'ms'?"),
    "ttft:p(99)<5req/s": (13, "ttft has no unit 'req/s'; choose one of us, ms, s or m"),
    "failed==0x": (10, "failed has no unit 'x'; it is a plain number"),
    "tps>=5tokens/s": (7, "output_tps has no unit 'tokens/s'; did you mean 'tok/s'?"),
    "ttft:p(99)>500ms": (11, "ttft takes < or <=, not '>': a faster server must never fail"),
    "qps<10": (4, "qps takes > or >=, not '<': a faster server must never fail"),
    "qps=>10": (4, "qps takes > or >=, not '=>'"),
    "failed=0": (7, "failed takes <, <=, >, >=, == or !=, not '='"),
    "error<-1%": (7, "the bound is -1, and error is never negative"),
    "error<1": (7, f"1 bounds nothing: {FRACTION}"),
    "error<250%": (7, f"250% bounds nothing: {FRACTION}"),
    "ttft:p(99)<1e999s": (12, "the bound must be a finite number, and infs is not"),
    "ttft:p(99)<1e308m": (12, "the bound must be a finite number, and 1e+308m is not"),
    "ttft:p(99)<5ms!wran": (16, "there is no severity 'wran'; did you mean 'warn'?"),
    "ttft:p(99)<5ms!warn x": (21, f"'x' is too much; {HOW}"),
    "ttft:p(99)<500ms@es99": (17, f"'@es99' is too much; {HOW}"),
    "ttft{region:high}:p(99)<5ms": (
        5,
        f"an operator is missing before '{{region:high}}:p(99)<5ms'; {HOW}",
    ),
}


@pytest.mark.parametrize("written", MISTAKES)
def test_a_mistake_is_named_with_its_place_and_its_remedy(written: str) -> None:
    """The message shows the expression, the column, what is wrong and what would be right."""
    column, message = MISTAKES[written]
    with pytest.raises(RulesetError) as refused:
        parse(written)
    assert str(refused.value) == f"{written!r}, column {column}: {message}"
