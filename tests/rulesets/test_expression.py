"""The short form of a target."""

from __future__ import annotations

from dataclasses import asdict, replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets import METRICS, ExpressionError, RulesetError, Target, parse, unparse
from rulesets.condition import Condition
from rulesets.confidence import methods
from rulesets.metric_table import quantity_of
from rulesets.quantity import CHANGE, METRIC_ALIASES
from rulesets.request_metrics import REQUEST_METRICS

WORDS = st.text(min_size=1, max_size=8)
LEVELS = st.floats(min_value=0.5, max_value=1, exclude_max=True)
SCORES = st.from_regex(r"accuracy\.[A-Za-z0-9_.-]{1,12}", fullmatch=True)


def percent(number: Decimal) -> bool:
    """Whether a percentile is not taken for a fraction."""
    return not Decimal("0.5") <= number < 1


@st.composite
def conditions(draw: st.DrawFn) -> list[Condition]:
    """Draw what a request must meet to be good."""
    latencies = [
        metric.name
        for metric in REQUEST_METRICS
        if metric.in_rules and metric.quantity.kind == "latency" and metric.per == "request"
    ]
    return [
        Condition.of(
            metric=name,
            op=draw(st.sampled_from(["<", "<="])),
            value=draw(st.floats(min_value=1e-9, max_value=1e300)),
            unit=draw(st.sampled_from(METRICS[name].units)),
        )
        for name in draw(st.lists(st.sampled_from(latencies), min_size=1, max_size=3, unique=True))
    ]


@st.composite
def proofs(draw: st.DrawFn, metric: str, stat: str, op: str, *, delta: bool) -> dict[str, Any] | None:
    """Draw a confidence that goes with a target, or none."""
    usable = [
        method
        for method in methods(quantity_of(metric), stat, delta=delta)
        if op not in {"==", "!="} and (method != "early_stopping" or op in {"<", "<="})
    ]
    if not usable or draw(st.booleans()):
        return None
    method = draw(st.sampled_from(usable))
    form = draw(st.sampled_from(["test", "estimate"])) if method == "early_stopping" else None
    return {"method": method, "level": draw(LEVELS), "form": form}


@st.composite
def targets(draw: st.DrawFn) -> Target:
    """Draw any target that there can be."""
    metric = draw(st.one_of(st.sampled_from(sorted(METRICS)), SCORES))
    quantity = quantity_of(metric)
    percents = [f"p({draw(st.decimals(min_value='0.0001', max_value='99.9999', places=4).filter(percent))})"]
    stat = draw(st.sampled_from([*quantity.stats, *percents * quantity.percentiles]))
    op = draw(st.sampled_from(quantity.ops))
    delta = quantity.kind != "count" and draw(st.booleans())
    scale = CHANGE if delta else quantity.scale_of(stat)
    unit = draw(st.sampled_from(sorted(scale.units)))
    least, greatest = max(scale.least, -1e300), 0.999 if scale.greatest == 1 else 1e290
    # A percentage that is subnormal is 0 as a fraction.
    values = st.floats(min_value=least, max_value=greatest, allow_subnormal=False)
    value = draw(values.filter(lambda value: value > scale.least))
    where = draw(st.dictionaries(WORDS, st.text(max_size=8), max_size=0 if "." in metric else 2))
    target = Target.of(
        metric=metric,
        stat=stat,
        op=op,
        value=float(int(value)) if op in {"==", "!="} else value,
        unit=unit,
        severity=draw(st.sampled_from(["fail", "warn", "info"])),
        where=where.items(),
        confidence=draw(proofs(metric, "p50" if stat in percents else stat, op, delta=delta)),
        conditions=draw(conditions()) if metric == "good" else (),
        delta=delta,
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


@given(target=targets())
def test_a_target_can_be_made_from_its_plain_values(target: Target) -> None:
    """As a log stores them."""
    plain = {name: value for name, value in asdict(target).items() if name != "id"}
    again = Target.of(**plain | {"conditions": [Condition.of(**part) for part in plain["conditions"]]})
    assert replace(again, id=target.id) == target


@given(text=st.text(alphabet='tfpqserorlay:()<>=!%.0159 {}@-µ\n"\\,', max_size=30))
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
        ("ttft:p(99)<2000ms@es99", "ttft:p(99)<2000ms@es99"),
        ("ttft:p(99)<2s @ es !warn", "ttft:p(99)<2s@es99!warn"),
        ("latency:p(97.50)<2s@es99.50-estimate", "latency:p(97.5)<2s@es99.5-estimate"),
        ("ttft:p95<2s@ucl", "ttft:p(95)<2s@ucl95"),
        ("ttft:p95<2s@ucl-effective", "ttft:p(95)<2s@ucl95"),
        ("ttft:p95<2s@ucl99-order_stat", "ttft:p(95)<2s@ucl99-order_stat"),
        ("tpot:mean<40ms@ucl90", "tpot:mean<40ms@ucl90"),
        ("tps>500@lcl-batch_means", "output_tps:value>500tok/s@lcl95"),
        ("error<1%@ucl99-wilson", "error:rate<1%@ucl99"),
        ("accuracy.ROUGE-L>=0.3@lcl", "accuracy.ROUGE-L:value>=0.3@lcl95"),
        ("accuracy.gsm8k:value>-1", "accuracy.gsm8k:value>-1"),
        ("osl:avg<=1406.02", "output_tokens:mean<=1406.02"),
        ("isl:max>1", "input_tokens:max>1"),
        ("interactivity:med>=50@lcl", "tps_per_user:p(50)>=50tok/s@lcl95"),
        ("tps_per_gpu>1e3", "tps_per_gpu:value>1000tok/s"),
        ("tpot{region:high}:p(90)<=80ms", "tpot{region:high}:p(90)<=80ms"),
        (' tpot { b : c , "a" : "x y,z" } :p(90)<=80ms', 'tpot{a:"x y,z",b:c}:p(90)<=80ms'),
        ("tps:delta>-3%@mw0.05", "output_tps:value:delta>-3%@mw0.05"),
        ("ttft:p(95) : delta < .1 @mw", "ttft:p(95):delta<0.1@mw0.05"),
        ("error:delta<5%", "error:rate:delta<5%"),
        (
            "good( tpot<50ms, ttft <.5s ):fraction>=95%@lcl99!info",
            "good(ttft<0.5s,tpot<50ms):fraction>=95%@lcl99!info",
        ),
        ("good(e2e<=20s){turn:0}:rate>2", "good(latency<=20s){turn:0}:rate>2req/s"),
        ("good(ttft<1s):fraction>=1", "good(ttft<1s):fraction>=1"),
    ],
)
def test_a_short_form_has_one_canonical_spelling(written: str, canonical: str) -> None:
    """White space, aliases and defaults are all resolved; the canonical spelling is the target's id."""
    target = parse(written)
    assert unparse(target) == canonical
    assert target.id == canonical


HOW = (
    "write METRIC:STAT OP NUMBER UNIT, e.g. 'ttft:p(99)<500ms' or 'error<1%'. Add @es99 or @ucl95 for a "
    "proof, and !warn or !info for a rule that cannot fail the run"
)
ALL = f"{', '.join((*METRICS, *METRIC_ALIASES))} or accuracy.NAME"
FRACTION = "the error rate is a fraction below 1; for one in a hundred write 1% or 0.01"
QUOTES = 'is not TAG:VALUE; put signs in quotes: {region:"a b"}'

MISTAKES = {
    # What was written, where it goes wrong, and what is said.
    "": (1, f"a metric is missing; {HOW}"),
    "ttft": (5, f"an operator is missing; {HOW}"),
    "ttft:p(99)": (11, f"an operator is missing; {HOW}"),
    "ttft:p(99)<": (12, f"a number is missing; {HOW}"),
    "ttft:p(99)<fast": (12, f"a number is missing before 'fast'; {HOW}"),
    "ttft:p(99)<nanms": (12, f"a number is missing before 'nanms'; {HOW}"),
    "ttf:p(99)<1s": (1, "unknown metric 'ttf'; did you mean 'ttft'?"),
    " TTFT:p(99)<1s": (2, "unknown metric 'TTFT'; type 'ttft:p(99)<1s'"),
    "throughput>5": (1, "unknown metric 'throughput'; type 'qps>5'"),
    "accuracy>5": (1, "unknown metric 'accuracy'; type 'accuracy.NAME>5'"),
    "accuracy.>5": (1, "'accuracy.' names no score; type 'accuracy.NAME>5'"),
    "ttft<500ms": (5, "ttft needs a statistic: mean, min, max or p(N); type 'ttft:p(99)<500ms'"),
    "ttft:<500ms": (6, "ttft needs a statistic: mean, min, max or p(N); type 'ttft:p(99)<500ms'"),
    "ttft:delta<5%": (6, "ttft needs a statistic: mean, min, max or p(N)"),
    "ttft:avrg<5ms": (6, "ttft has no statistic 'avrg'; did you mean 'avg'?"),
    "ttft:p(99<500ms": (6, "ttft has no statistic 'p(99'; type 'ttft:p(99)<500ms'"),
    "ttft:p(100)<500ms": (6, "a percentile is between 0 and 100, and 100 is not; there is max"),
    "ttft:p0<500ms": (6, "a percentile is between 0 and 100, and 0 is not; there is min"),
    "qps:p(99)>1": (5, "qps has no statistic 'p(99)'; type 'qps>1'"),
    "qps:value:change>1": (11, "only :delta can follow a statistic, not 'change'"),
    "failed:delta<1": (8, "failed is a count, and counts have no change from a baseline; qps and error have"),
    "ttft:p(99)<500": (15, "500 of what? ttft needs a unit: us, ms, s or m; type 'ttft:p(99)<500ms'"),
    "ttft:p(99)<500 msec": (16, "ttft has no unit 'msec'; type 'ttft:p(99)<500ms'"),
    "ttft:p(99)<5req/s": (13, "ttft has no unit 'req/s'; choose one of us, ms, s or m"),
    "ttft:p(99):delta<5ms": (19, "a change has no unit 'ms'; there is only '%'"),
    "good(ttft<1s):count>5%": (22, "good has no unit '%'; write a plain number"),
    "failed==0x": (10, "failed has no unit 'x'; write a plain number"),
    "tps>=5tokens/s": (7, "output_tps has no unit 'tokens/s'; type 'output_tps>=5tok/s'"),
    "ttft:p(99)>500ms": (11, "ttft takes < or <=, not '>': a faster server must never fail"),
    "qps<10": (4, "qps takes > or >=, not '<': a faster server must never fail"),
    "qps=>10": (4, "qps takes > or >=, not '=>'; type 'qps>=10'"),
    "osl:mean==10": (9, "output_tokens takes <, <=, > or >=, not '=='"),
    "failed=0": (7, "failed takes <, <=, >, >=, == or !=, not '='"),
    "error<-1%": (7, "the bound is -1%, and error is never negative"),
    "error<0": (7, "<0 can never be met; <=0 can"),
    "ttft:p(99)<0ms": (12, "<0ms can never be met; <=0ms can"),
    "good(ttft<1s):fraction>1": (24, ">1 can never be met; >=1 can"),
    "good(ttft<1s):fraction>=101%": (25, ">=101% can never be met: a fraction is at most 1, or 100%"),
    "tps:delta>-200%": (11, "the bound is -200%, and nothing falls by more than 100 %"),
    "failed==0.5": (9, "failed is a whole number, and never 0.5"),
    "error<1": (7, "1 bounds nothing: the error rate is a fraction below 1; type 'error<1%'"),
    "error<250%": (7, f"250% bounds nothing: {FRACTION}"),
    "ttft:p(99)<1e999s": (12, "the bound must be a finite number, and infs is not"),
    "ttft:p(99)<1e308m": (12, "the bound must be a finite number, and 1e+308m is not"),
    "ttft:p(99)<5ms!wran": (16, "unknown severity 'wran'; did you mean 'warn'?"),
    "ttft:p(99)<5ms!warn x": (21, f"'x' is too much; {HOW}"),
    "ttft:p(99)<5ms!warn@es99": (20, f"'@es99' is too much; {HOW}"),
    "ttft{}:p(99)<5ms": (5, f"'{{}}' {QUOTES}"),
    "ttft{region}:p(99)<5ms": (5, f"'region' {QUOTES}"),
    "ttft{region:high,}:p(99)<5ms": (5, f"'region:high,' {QUOTES}"),
    'ttft{region:"\\x"}:p(99)<5ms': (5, '"\\x" is not a JSON string in quotes'),
    "ttft{a:b,a:c}:p(99)<5ms": (5, "the tag 'a' stands twice, and no request has two values of it"),
    'ttft{"":b}:p(99)<5ms': (5, "a tag has no name"),
    "accuracy.x{a:b}>1": (11, "accuracy.x is a score of the whole run, and of no part of it"),
    "ttft(ttft<1s):p(9)<1s": (5, "ttft takes no conditions; good does"),
    "good:fraction>0.9": (5, "good needs conditions, e.g. good(ttft<500ms,tpot<50ms)"),
    "good():fraction>0.9": (5, "good needs conditions, e.g. good(ttft<500ms,tpot<50ms)"),
    "good(ttft<1s,tpott<1s):rate>1": (5, "'tpott' is not a latency of a request; did you mean 'tpot'?"),
    "ttft:mean<5ms@es": (
        15,
        "early_stopping does not go with ttft:mean, which takes batch_means or bootstrap",
    ),
    "ttft:max<5ms@ucl": (14, "there is no proof of ttft:max; leave the confidence out"),
    "failed==0@ucl": (11, "there is no proof of failed:count; leave the confidence out"),
    "ttft:p(9)<5ms@es99-tset": (15, "early stopping has no form 'tset'; did you mean 'test'?"),
    "osl:p(9)>5@es": (12, "early stopping counts what is over a bound, and > bounds from below; write lcl95"),
    "tps>5@ucl": (7, "a bound of > is compared with the lower limit; write lcl"),
    "ttft:p(9)<1s@lcl": (14, "a bound of < is compared with the upper limit; write ucl"),
    "ttft:p(9)<1s@ucl95-wilson": (
        14,
        "wilson does not go with ttft:p(9), which takes effective, order_stat or early_stopping",
    ),
    "ttft:p(9)<1s@ucl-botstrap": (14, "unknown method 'botstrap'; did you mean 'bootstrap'?"),
    "ttft:p(9)<1s@ucl-early_stopping": (14, "early_stopping has no confidence limit; write es99"),
    "ttft:p(9)<1s@ucl0.95": (14, "ucl0.95 is a confidence of 0.95 %; write ucl95"),
    "ttft:p(9)<1s@ucl5": (14, "the level is a share from 0.5 to below 1, not 0.05; 95 % is 0.95"),
    "ttft:p(9)<1s@es100": (14, "the level is a share from 0.5 to below 1, not 1.0; 95 % is 0.95"),
    "ttft:p(9)<1s@se99": (14, "unknown confidence 'se'; choose one of es, ucl, lcl or mw"),
    "ttft:p(9)<1s@99": (14, "'99' is not a confidence; write es99, ucl95, lcl95 or mw0.05"),
    "tps>5@mw": (7, "mann_whitney tests a change from the baseline; write :delta before the operator"),
    "tps:delta>5%@lcl": (14, "a change from the baseline is tested, and has no limit; write mw0.05"),
    "tps:delta>5%@mw0": (
        14,
        "mw0 is not a chance of a false alarm; alpha is above 0 and at most 0.5, e.g. mw0.05",
    ),
    "tps:delta>5%@mw5-exact": (14, "mw takes nothing after its alpha, e.g. mw0.05"),
}


@pytest.mark.parametrize("written", MISTAKES)
def test_a_mistake_is_named_with_its_place_and_its_remedy(written: str) -> None:
    """The message shows the expression, the column, what is wrong and what would be right."""
    column, message = MISTAKES[written]
    with pytest.raises(RulesetError) as refused:
        parse(written)
    assert str(refused.value) == f"{written!r}, column {column}: {message}"
