"""Metrics pages of each server, in its published format, and pages of something else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recorder.sensors import names
from recorder.sensors.exposition import MOST_THINGS, UnreadableError, engine_of, observed

PAGES = Path(__file__).parent / "pages"

EXPECTED = {
    "vllm": {
        "running_requests": 12,
        "waiting_requests": 2,
        "kv_cache_usage_ratio": 0.75,
        "preemptions_total": 3,
        "prefix_queried_tokens_total": 4000,
        "prefix_hit_tokens_total": 1024,
        "prompt_tokens_total": 4096,
        "output_tokens_total": 1280,
        "completed_requests_total": 42,
        "ttft_sum_s": 2.1,
        "ttft_requests_total": 42,
        "queue_sum_s": 0.42,
        "queue_requests_total": 42,
        "latency_sum_s": 21,
        "latency_requests_total": 42,
    },
    "sglang": {
        "running_requests": 9,
        "waiting_requests": 4,
        "kv_cache_usage_ratio": 0.41,
        "preemptions_total": 2,
        "prefix_queried_tokens_total": 5000,
        "prefix_hit_tokens_total": 1000,
        "prompt_tokens_total": 5000,
        "output_tokens_total": 1500,
        "completed_requests_total": 50,
        "ttft_sum_s": 4,
        "ttft_requests_total": 50,
        "queue_sum_s": 0.5,
        "queue_requests_total": 50,
        "latency_sum_s": 60,
        "latency_requests_total": 50,
    },
    "tgi": {
        "running_requests": 8,
        "waiting_requests": 3,
        "prompt_tokens_total": 7200,
        "output_tokens_total": 3000,
        "completed_requests_total": 60,
        "queue_sum_s": 0.6,
        "queue_requests_total": 60,
        "latency_sum_s": 90.5,
        "latency_requests_total": 60,
    },
    "tensorrt_llm": {
        "running_requests": 6,
        "waiting_requests": 1,
        "kv_cache_usage_ratio": 0.125,
        "prefix_queried_tokens_total": 2400,
        "prompt_tokens_total": 2400,
        "output_tokens_total": 1200,
        "completed_requests_total": 24,
        "ttft_sum_s": 1.2,
        "ttft_requests_total": 24,
        "queue_sum_s": 0.24,
        "queue_requests_total": 24,
    },
    "llama.cpp": {
        "running_requests": 4,
        "waiting_requests": 46,
        "prompt_tokens_total": 512,
        "output_tokens_total": 390,
    },
}


def page(name: str) -> str:
    """The page of a server."""
    return (PAGES / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("engine", EXPECTED)
def test_each_server_has_its_row(engine: str) -> None:
    """All that a page has under a known name is read, all engines together."""
    text = page(engine)
    assert engine_of(text) == engine
    together: Counter[str] = Counter()
    for thing in observed(text, engine, names.SERVER, whole=False):
        assert not thing.histograms
        together.update(thing.values)  # type: ignore[arg-type]  # floats add up as well
    assert dict(together) == pytest.approx(EXPECTED[engine])


def test_engines_of_one_server_have_their_own_series() -> None:
    """Labels that name an engine stay; others are summed over, without requests that failed."""
    first, second = observed(page("vllm"), "vllm", names.SERVER, whole=True)
    model = {"model_name": "meta-llama/Llama-3.1-8B-Instruct"}
    assert (first.labels, second.labels) == ({"engine": "0", **model}, {"engine": "1", **model})
    assert (first.values["completed_requests_total"], second.values["running_requests"]) == (42, 5)
    assert first.histograms["ttft"] == {"0.04": 10, "0.06": 40, "+Inf": 42}


def test_dcgm_has_a_row_for_each_gpu() -> None:
    """In our units; what a GPU does not have is left out."""
    first, second = observed(page("dcgm"), "dcgm", names.DCGM, whole=True)
    assert first.values == {
        "power_w": 412.5,
        "energy_j_total": 5000,
        "utilization_pct": 97,
        "memory_used_bytes": 70000 * 1024**2,
        "sm_clock_mhz": 1980,
    }
    assert (first.labels["gpu"], second.labels["gpu"], second.values) == ("0", "1", {"power_w": 71})


@pytest.mark.parametrize(
    "line",
    ["vllm:num_requests_running{", 'vllm:num_requests_running{a="b} 1', "vllm:num_requests_running x"],
)
def test_a_line_that_cannot_be_read(line: str) -> None:
    """It is an error of the page."""
    with pytest.raises(UnreadableError):
        observed(line, "vllm", names.SERVER, whole=True)


def test_a_page_with_countless_labels_is_bounded() -> None:
    """A server that names a million engines fills no memory."""
    text = "\n".join(f'vllm:num_requests_running{{engine="{n}"}} 1' for n in range(10_000))
    assert len(observed(text, "vllm", names.SERVER, whole=True)) == MOST_THINGS


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-1", "9223372036854775794"])
def test_values_that_are_not_numbers(value: str) -> None:
    """Neither infinities nor negative numbers, nor what DCGM has in place of nothing."""
    assert observed(f"DCGM_FI_DEV_POWER_USAGE {value}", "dcgm", names.DCGM, whole=True) == []


@given(
    st.text(
        alphabet=st.sampled_from('vllm:num_requests_running{}="\\\n #0123456789.eE+-,\t\r\x00é'), max_size=200
    )
)
@example('vllm:num_requests_running{a="b",} 1\n# TYPE vllm:num_requests_running counter\n')
@example("vllm:num_requests_running 1 2 3")
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing else happens, whatever a page says."""
    text = "vllm:num_requests_running" + text
    try:
        things = observed(text, "vllm", names.SERVER, whole=True)
    except UnreadableError:
        return
    assert all(value >= 0 for thing in things for value in thing.values.values())
