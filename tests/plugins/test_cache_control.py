"""A chosen hit rate: made, primed, measured against the mock's own cache; and the reset of a cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.mock_endpoint.process import start_mock
from loadgen.plugins.cache_control.hit_rate import hit_rate, primed
from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.preparation import prepare
from loadgen.sessions.settings.perf import PerfSettings, perf_settings
from loadgen.sessions.settings.prompt_options import PromptSettings
from reporter.cache_hits import MOST_OFF
from workloads.synthetic.text_length import words_of

if TYPE_CHECKING:
    from loadgen.mock_endpoint.process import MockProcess


def settings(**options: Any) -> PerfSettings:
    """Settings of a run with a chosen hit rate."""
    usual = {"url": ["http://127.0.0.1:9"], "model": "m", "input_tokens": "1000", "cache_hit": "0.6x4"}
    return perf_settings(**{**usual, **options})


@given(share=st.integers(1, 99), tokens=st.integers(1, 20_000), block=st.sampled_from([1, 16, 64]))
def test_a_prefix_is_whole_blocks_within_the_share(share: int, tokens: int, block: int) -> None:
    """Either within 0.02 of the target, or refused with a length that is."""
    options = PromptSettings(cache_hit=f"{share}%", input_tokens=f"{tokens}", cache_block=block)
    try:
        rate = hit_rate(options)
    except UsageError as error:
        fitting = str(error).split("--input-tokens ")[1].split(",")[0]
        rate = hit_rate(PromptSettings(cache_hit=f"{share}%", input_tokens=fitting, cache_block=block))
    assert rate.prefix_tokens % block == 0
    assert 0 <= share / 100 - rate.planned <= MOST_OFF
    assert rate.prefix_tokens + block > share * rate.tokens / 100


def test_the_warm_up_sends_every_prefix_first() -> None:
    """At least one prompt of each group, before any that is measured; the options of the log say so."""
    prepared = prepare(settings(requests=20, warmup="2"))
    assert prepared.plan.warmup == 4
    warming = {prepared.dataset.samples[number].system for number in range(4)}
    assert warming == {sample.system for sample in prepared.dataset.samples}
    assert len(warming) == 4
    assert prepared.settings()["dataset"]["facts"]["cache_hit"] == {
        "target": 0.6,
        "planned": 0.592,
        "groups": 4,
        "prefix_tokens": 592,
        "block_tokens": 16,
    }
    assert primed(prepared.perf).load.warmup == "4"
    assert primed(settings(warmup="9")).load.warmup == "9"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cache_hit": "much"}, "--cache-hit 'much': write SHARE or SHARExGROUPS"),
        ({"cache_hit": "0.6x0"}, "groups from 1"),
        ({"cache_hit": "0.6x2x0"}, "write SHARE or SHARExGROUPS"),
        ({"cache_hit": "0.6x2x1x1"}, "write SHARE or SHARExGROUPS"),
        ({"cache_hit": "100%"}, "above 0 and below 1"),
        ({"input_tokens": "uniform:20..40"}, "whole blocks of 16 are .* of --input-tokens uniform:20..40"),
        ({"input_tokens": "40"}, "60.0 % of 40 tokens is not near a multiple of 16; give --input-tokens"),
        ({"cache_block": 0}, "--cache-block 0: must be 1 or more"),
        ({"shared_prefix": "50"}, "--shared-prefix: --cache-hit chooses"),
        ({"order": "shuffle"}, "--order: --cache-hit chooses"),
        ({"warmup": "3s"}, "--warmup 3s: --cache-hit sends one prompt of each of 4 groups"),
        ({"url": ["http://a", "http://b"], "balance": "least-in-flight"}, "--balance: --cache-hit primes"),
        ({"cache_hit": None, "cache_block": 32}, "--cache-block 32: applies to --cache-hit"),
        ({"prompts": "p.jsonl", "input_tokens": None}, "--cache-hit: only for synthetic prompts"),
    ],
)
def test_options_that_contradict_the_hit_rate(options: dict[str, Any], message: str) -> None:
    """The message names the option and what to give."""
    with pytest.raises(Exception, match=message):
        prepare(settings(**options))


def report_of(loadgen: Any, server: MockProcess, *options: object) -> dict[str, Any]:
    """Run, and read the report."""
    common = ("--url", server.url, "--model", "mock", "-c", 3, "-n", 20, "-q", "--on-invalid", "warn")
    done = loadgen("perf", *common, "--out", "run", *options)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = orjson.loads(loadgen("report", "run", "--json").stdout)
    return report


def test_the_measured_share_is_that_of_the_server(loadgen: Any) -> None:
    """By usage and by the server's counters, as the mock's own truth has it; no finding near the target."""
    with start_mock(cache_blocks=0, block_tokens=4, ttft="1ms", itl="0", tokens="2") as server:
        loadgen("perf", "--url", server.url, "--model", "mock", "-n", 1, "-q", "--out", "before")
        options = ("--input-tokens", 2600, "--cache-hit", "0.6x4", "--reset-cache")
        report = report_of(loadgen, server, *options, "--server-metrics", "auto")
        truths = server.truth(25)[1:]
    hits = report["cache_hits"]
    prefix = words_of(hits["prefix_tokens"]) // 4 * 4
    assert [truth.cached_tokens for truth in truths] == [0] * 4 + [prefix] * 20
    measured = truths[4:]
    assert hits["measured"] == sum(t.cached_tokens for t in measured) / sum(t.input_tokens for t in measured)
    assert abs(hits["measured"] - 0.6) <= MOST_OFF
    assert hits["by_server"] == pytest.approx(
        sum(t.cached_tokens for t in measured) / sum(t.input_tokens for t in measured), abs=1e-4
    )
    assert hits["counts_warmup"] is False
    assert not [finding for finding in report["findings"] if finding["code"].startswith("cache_hit")]
    assert f"target 60.0 %, {100 * hits['measured']:.1f} % by usage" in loadgen("report", "run").stdout
    page = loadgen("report", "run", "--format", "html").stdout
    assert "Cache hits" in page


def test_several_lengths_and_servers(loadgen: Any) -> None:
    """Each server has every prefix after the warm-up, and the share holds over prompts of all lengths."""
    options = {"cache_blocks": 0, "block_tokens": 4, "ttft": "1ms", "itl": "0", "tokens": "2"}
    with start_mock(**options) as server, start_mock(**options) as other:
        hits = ("--input-tokens", "uniform:1300..3900", "--cache-hit", "0.6x4", "--url", other.url)
        report = report_of(loadgen, server, *hits)
        truths = server.truth(14), other.truth(14)
    for each in truths:
        assert [truth.hit_blocks > 0 for truth in each] == [False] * 4 + [True] * 10
        assert len({truth.input_tokens for truth in each[4:]}) > 5
    assert abs(report["cache_hits"]["measured"] - 0.6) <= MOST_OFF
    assert report["cache_hits"]["prefix_tokens"] > 0.6 * 3000


def test_a_cache_that_is_too_small_misses_the_target(loadgen: Any) -> None:
    """Four prefixes do not fit: nothing is ever found, and a finding says so."""
    with start_mock(cache_blocks=100, ttft="1ms", itl="0", tokens="2") as server:
        report = report_of(loadgen, server, "--input-tokens", 2600, "--cache-hit", "0.6x4")
    (finding,) = [each for each in report["findings"] if each["code"] == "cache_hit_missed"]
    assert "the target is 60.0 %" in finding["message"]
    assert report["cache_hits"]["measured"] < 0.6 - MOST_OFF


def test_a_server_that_counts_no_cached_tokens(loadgen: Any) -> None:
    """Its metrics count no hits: that is what is reported. Without metrics, the share is unknown."""
    with start_mock(ttft="1ms", itl="0", tokens="2") as server:
        options = ("--input-tokens", 2600, "--cache-hit", "0.6")
        report = report_of(loadgen, server, *options, "--server-metrics", "none")
    assert report["cache_hits"]["measured"] is report["cache_hits"]["by_server"] is None
    assert "cache_hit_unknown" in [finding["code"] for finding in report["findings"]]


def test_a_reset_that_the_server_does_not_have(loadgen: Any) -> None:
    """Set-up fails, and nothing is measured; so it does where no server is."""
    with start_mock() as server:
        done = loadgen("perf", "--url", server.url, "--model", "m", "--reset-cache", "--out", "run")
        assert server.truth() == []
    assert done.returncode == 3
    assert "has neither /reset_prefix_cache nor /flush_cache" in done.stderr
    done = loadgen("perf", "--url", server.url, "--model", "m", "--reset-cache", "--out", "run")
    assert done.returncode == 3
    assert "/reset_prefix_cache cannot be reached" in done.stderr
