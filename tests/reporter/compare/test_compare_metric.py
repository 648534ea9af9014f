"""What runs can be compared in, and how it is written."""

import re

import pytest

from reporter.compare.compared_metric import BRIEF, DECIDING, FURTHER, metric
from reporter.errors import OptionError
from rulesets.statistics.mann_whitney import least_p
from tests.for_each import for_each


@for_each("text", [*DECIDING, *FURTHER])
def test_the_usual_metrics_are_written_as_they_are_called(text: str) -> None:
    """What is printed can be given to --metric."""
    assert metric(text).name == text


@pytest.mark.parametrize(
    "row", ["ttft:p(95)", "latency:p(95)", "generation_tps:mean", "ttft:mean", "latency:mean", "ttft:p(50)"]
)
def test_what_the_console_shows_without_being_asked(row: str) -> None:
    """Tails, and the generation speed of a request, as well as what decides."""
    assert row in {*DECIDING, *BRIEF}


@pytest.mark.parametrize(
    ("text", "name", "kind", "better", "unit"),
    [
        ("tps", "output_tps", "rate", "higher", "tok/s"),
        ("e2e:med", "latency:p(50)", "percentile", "lower", "ms"),
        ("error:rate", "error", "error", "lower", ""),
        ("osl:mean", "output_tokens:mean", "mean", "neither", "tokens"),
        ("good(ttft<1s,tpot<50ms):fraction", "good(ttft<1s,tpot<50ms):fraction", "good", "higher", ""),
        ("accuracy.ROUGE1", "accuracy.ROUGE1", "accuracy", "higher", ""),
        ("ttft{region:eu}:p(99.9)", "ttft{region:eu}:p(99.9)", "percentile", "lower", "ms"),
    ],
)
def test_a_metric_is_read_as_a_rule_is(text: str, name: str, kind: str, better: str, unit: str) -> None:
    """With aliases, tags, conditions and scores; it knows which direction is better."""
    compared = metric(text)
    assert (compared.name, compared.kind, compared.better, compared.unit) == (name, kind, better, unit)
    assert metric(compared.name) == compared


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ttfd:mean", "did you mean 'ttft'"),
        ("ttft", "ttft needs a statistic"),
        ("ttft:max", "an extreme value says nothing"),
        ("tps_per_user:mean", "compare tpot"),
        ("issued", "a count"),
        ("good(ttft<1s):rate", "compare its fraction"),
        ("ttft:p(99)<500ms", "leave the bound out"),
        ("", "metric"),
    ],
)
def test_a_metric_that_cannot_be_compared_is_refused(text: str, message: str) -> None:
    """The message quotes what was written, and says what to write."""
    with pytest.raises(OptionError, match=re.escape(repr(text))) as raised:
        metric(text)
    assert message in str(raised.value)
    assert ":delta" not in str(raised.value)


def test_five_runs_a_side_suffice_for_the_usual_metrics() -> None:
    """Holm's method leaves this number of metrics a chance."""
    assert least_p(5, 5) * len(DECIDING) <= 0.05 < least_p(5, 5) * (len(DECIDING) + 1)
