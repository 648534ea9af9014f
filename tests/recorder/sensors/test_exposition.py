"""Metrics pages of each server, in its published format, and pages of something else."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recorder.sensors import names
from recorder.sensors.exposition import MOST_THINGS, Naming, UnreadableError, naming_of, observed
from recorder.sensors.prometheus import PrometheusSensor
from recorder.sensors.scrape import MetricsPage, ScrapeTarget

if TYPE_CHECKING:
    from recorder.sensors.reading import Reading

PAGES = Path(__file__).parent / "pages"
VLLM = Naming("vllm", "vllm:")
DCGM = Naming("dcgm", "")

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
    "triton": {"waiting_requests": 5, "completed_requests_total": 240},
}


def page(name: str) -> str:
    """The page of a server."""
    return (PAGES / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("engine", EXPECTED)
def test_each_server_has_its_row(engine: str) -> None:
    """All that a page has under a known name is read, all engines together."""
    text = page(engine)
    naming = naming_of(text)
    assert naming == Naming(engine, names.ENGINES[engine])
    together: Counter[str] = Counter()
    for thing in observed(text, naming, names.SERVER, whole=False):
        assert not thing.histograms
        together.update(thing.values)  # type: ignore[arg-type]  # floats add up as well
    assert dict(together) == pytest.approx(EXPECTED[engine])


def test_engines_of_one_server_have_their_own_series() -> None:
    """Labels that name an engine stay; others are summed over, without requests that failed."""
    first, second = observed(page("vllm"), VLLM, names.SERVER, whole=True)
    model = {"model_name": "meta-llama/Llama-3.1-8B-Instruct"}
    assert (first.labels, second.labels) == ({"engine": "0", **model}, {"engine": "1", **model})
    assert (first.values["completed_requests_total"], second.values["running_requests"]) == (42, 5)
    assert first.histograms["ttft"] == {"0.04": 10, "0.06": 40, "+Inf": 42}


def test_dcgm_has_a_row_for_each_gpu() -> None:
    """In our units; what a GPU does not have is left out."""
    first, second = observed(page("dcgm"), DCGM, names.DCGM, whole=True)
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
        observed(line, VLLM, names.SERVER, whole=True)


def test_a_page_with_countless_labels_is_bounded() -> None:
    """A server that names a million engines fills no memory."""
    text = "\n".join(f'vllm:num_requests_running{{engine="{n}"}} 1' for n in range(10_000))
    assert len(observed(text, VLLM, names.SERVER, whole=True)) == MOST_THINGS


@pytest.mark.parametrize(
    "value",
    [
        *("NaN", "+Inf", "-1", "9223372036854775794", "9223372036854775792", "140737488355328"),
        *("1.40737488355331e+14", "4294967295", "2147483632", "2147483647"),
    ],
)
def test_values_that_are_not_numbers(value: str) -> None:
    """Neither infinities nor negative numbers, nor what DCGM has in place of nothing."""
    assert observed(f"DCGM_FI_DEV_POWER_USAGE {value}", DCGM, names.DCGM, whole=True) == []


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
        things = observed(text, VLLM, names.SERVER, whole=True)
    except UnreadableError:
        return
    assert all(value >= 0 for thing in things for value in thing.values.values())


def the_only(text: str, engine: str = "sglang") -> dict[str, float]:
    """The values of the one thing on a page."""
    naming = DCGM if engine == "dcgm" else naming_of(text)
    assert naming is not None
    quantities = names.DCGM if engine == "dcgm" else names.SERVER
    (thing,) = observed(text, naming, quantities, whole=True)
    return thing.values


MIG = 'gpu="0",UUID="GPU-1",device="nvidia0",GPU_I_PROFILE="1g.6gb",GPU_I_ID="{}",Hostname="n1"'


def test_a_gpu_that_is_repeated_is_read_once() -> None:
    """For each MIG instance, and for each pod that shares it; memory is what the instances have together."""
    instances = "".join(
        f"DCGM_FI_DEV_POWER_USAGE{{{MIG.format(i)}}} 50\n"
        f"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{{{MIG.format(i)}}} 7000\n"
        f"DCGM_FI_DEV_FB_USED{{{MIG.format(i)}}} {i}\n"
        for i in (3, 4, 5, 6)
    )
    values = {"power_w": 50, "energy_j_total": 7, "memory_used_bytes": 18 * 1024**2}
    assert the_only(instances, "dcgm") == values
    assert the_only(instances.replace('UUID="GPU-1"', 'UUID="MIG-77"'), "dcgm") == values
    pods = "".join(
        f'{name}{{gpu="0",UUID="GPU-1",pod="p-{pod}",namespace="n"}} {value}\n'
        for pod in range(5)
        for name, value in (("DCGM_FI_DEV_POWER_USAGE", 300), ("DCGM_FI_DEV_FB_USED", 9))
    )
    assert the_only(pods, "dcgm") == {"power_w": 300, "memory_used_bytes": 9 * 1024**2}


def test_ranks_of_an_engine_report_the_same_requests() -> None:
    """Of tensor and pipeline ranks the largest counts; data parallel ranks add up."""
    ranks = "".join(
        f'sglang:num_running_reqs{{model_name="m",tp_rank="{tp}",pp_rank="{pp}",moe_ep_rank="{tp}"}} 5\n'
        f'sglang:queue_time_seconds_sum{{model_name="m",tp_rank="{tp}",pp_rank="{pp}"}} 0.5\n'
        f'sglang:queue_time_seconds_bucket{{model_name="m",tp_rank="{tp}",pp_rank="{pp}",le="+Inf"}} 5\n'
        for tp in range(4)
        for pp in range(2)
    )
    assert the_only(ranks) == {"running_requests": 5, "queue_sum_s": 0.5}
    (thing,) = observed(ranks, Naming("sglang", "sglang:"), names.SERVER, whole=True)
    assert thing.histograms == {"queue": {"+Inf": 5}}
    replicas = "".join(f'sglang:num_running_reqs{{dp_rank="{dp}",tp_rank="{dp}"}} 5\n' for dp in range(2))
    things = observed(replicas, Naming("sglang", "sglang:"), names.SERVER, whole=True)
    assert [thing.values["running_requests"] for thing in things] == [5, 5]
    priorities = "".join(
        f'sglang:num_running_reqs{{priority="{p}"}} {n}\n' for p, n in (("", 7), ("1", 4), ("2", 3))
    )
    assert the_only(priorities) == {"running_requests": 7}


@pytest.mark.parametrize(
    ("engine", "prefix"),
    [
        ("vllm", "ray_vllm:"),
        ("vllm", "ray_vllm_"),
        ("vllm", "vllm_"),
        ("vllm", "prod:eu_1_vllm:"),
        ("sglang", "sglang_"),
        ("sglang", "ray_sglang_"),
        ("tensorrt_llm", "ray_trtllm_"),
        ("tgi", "ray_tgi_"),
        ("llama.cpp", "llamacpp_"),
    ],
)
def test_names_under_another_prefix(engine: str, prefix: str) -> None:
    """They are read as the engine's own, also without `_total`, and after an escaped line end."""
    text = re.sub(f"^{names.ENGINES[engine]}", prefix, page(engine), flags=re.MULTILINE)
    naming = naming_of(text)
    assert naming == Naming(engine, prefix)
    shorter = re.sub(r"^(\w\S*?)_total([ {])", r"\1\2", text, flags=re.MULTILINE)
    escaped = re.sub(r"\n(?=\w)", r"\\\\n", text, count=1)
    for changed in (text, shorter, escaped):
        together: Counter[str] = Counter()
        for thing in observed(changed, naming, names.SERVER, whole=False):
            together.update(thing.values)  # type: ignore[arg-type]  # floats add up as well
        assert dict(together) == pytest.approx(EXPECTED[engine])


def test_prompt_tokens_of_llama_cpp() -> None:
    """Its counter leaves cached tokens out, which newer versions count on their own."""
    text = "llamacpp:prompt_tokens_total 100\nllamacpp:prompt_tokens_cached_total 399\n"
    assert the_only(text, "llama.cpp") == {
        "prompt_tokens_total": 499,
        "prefix_queried_tokens_total": 499,
        "prefix_hit_tokens_total": 399,
    }


def readings_of(text: str, monkeypatch: pytest.MonkeyPatch, source: str = "dcgm") -> list[Reading]:
    """What the sensor makes of a page."""
    monkeypatch.setattr(
        "recorder.sensors.prometheus.scrape", lambda _: MetricsPage(text, "text/plain", at_ns=1, took_ms=1.0)
    )
    sensor = PrometheusSensor(source, ScrapeTarget("http://h/metrics"), 1.0, {}, str)
    return list(sensor.read(whole=False))


def test_impossible_values_are_dropped_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """No GPU draws 10 kW, is busy for more than all of the time, or uses more memory than it has."""
    text = (
        'DCGM_FI_DEV_POWER_USAGE{gpu="0"} 12000\nDCGM_FI_DEV_GPU_UTIL{gpu="0"} 250\n'
        'DCGM_FI_DEV_FB_USED{gpu="0"} 81\nDCGM_FI_DEV_FB_TOTAL{gpu="0"} 80\n'
        'DCGM_FI_DEV_GPU_TEMP{gpu="0"} 60\n'
    )
    good, bad = readings_of(text, monkeypatch)
    assert good.values == {"memory_total_bytes": 80 * 1024**2, "temperature_c": 60}
    assert (bad.values, bad.error) == ({}, "impossible_value")
    assert bad.message is not None
    assert all(part in bad.message for part in ("GPU 0", "power_w is 12000", "utilization_pct is 250"))
    assert "memory_used_bytes" in bad.message


def test_what_a_page_without_a_reading_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blanks only; and a page that has its metrics in a comment."""
    (reading,) = readings_of("DCGM_FI_DEV_POWER_USAGE 140737488355328\n", monkeypatch)
    assert "no metric of the page has a value" in str(reading.message)
    (reading,) = readings_of('# HELP "ray_vllm:num_requests_running 1"', monkeypatch, "server")
    assert "ray_vllm:num_requests_running" in str(reading.message)
