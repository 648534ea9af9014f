"""Result files of load generators are read as written, and what is wrong is named with file and key."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from loadgen import open_run
from loadgen.plugins.imports.imported_log import format_called, import_results
from tests.plugins.imports import load_files as written
from tests.plugins.imports.harness_files import write_json
from workloads.errors import WorkloadError
from workloads.registry import entries

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from loadgen.plugins.imports.loads.load_results import LoadResults

LOADS = [name for name, entry in entries("imports").items() if entry.facts.get("has") == "requests"]
FIGURES = [name for name, entry in entries("imports").items() if entry.facts.get("has") == "figures"]


def read(name: str, path: Path) -> LoadResults:
    """The first run of a file."""
    return format_called(name).read(path)[0]


def test_every_format_has_a_sample_here() -> None:
    """No importer is without a test."""
    assert set(written.WRITERS) == set(LOADS)


@pytest.mark.parametrize("name", LOADS)
def test_records_of_requests(name: str, tmp_path: Path) -> None:
    """Each request with its times, tokens and failure; the model and the load."""
    run = read(name, written.WRITERS[name](tmp_path))
    assert run.model == "org/demo"
    assert len(run.requests) == written.COUNT
    assert not run.figures
    first, *_, failed = run.requests
    assert first.first_token_s == pytest.approx(0.020, abs=1e-6)
    assert (first.input_tokens, first.output_tokens, first.error) == (10, 4, None)
    assert failed.error in {"Service Unavailable", "503", "no capacity"}
    if name == "sglang-bench":
        assert run.load == {"kind": "poisson", "rate": 8.0}
        assert first.start_s is None
    else:
        assert run.load == {"kind": "closed", "concurrency": 4}
        assert [first.start_s, run.requests[1].start_s] == pytest.approx([0.0, 0.25], abs=1e-6)
    if name == "guidellm":
        assert (first.chunks, first.last_token_s, first.end_s) == (
            4,
            pytest.approx(0.035, abs=1e-6),
            pytest.approx(0.036, abs=1e-6),
        )
    else:
        assert first.gaps_s == pytest.approx(written.GAPS)
        assert first.end_s == pytest.approx(0.035)
    if name == "aiperf":
        assert run.facts["warmup_requests"] == 1


SUMMARIES: dict[str, Callable[[Path], Path]] = {
    "aiperf": lambda folder: written.aiperf(folder, records=False),
    "guidellm": lambda folder: written.guidellm(folder, recorded=5),
    "inference-perf": lambda folder: written.inference_perf(folder, records=False),
    "vllm-bench": lambda folder: written.vllm(folder, detailed=False),
}


@pytest.mark.parametrize("name", SUMMARIES)
def test_a_file_without_all_records_has_figures_alone(name: str, tmp_path: Path) -> None:
    """Means, percentiles, rates and counts as the file has them, and a note on how to get records."""
    run = read(name, SUMMARIES[name](tmp_path))
    assert not run.requests
    figures = run.figures
    assert (figures["completed"], figures["failed"]) == (written.COUNT - 1, 1)
    assert figures["qps"] == pytest.approx(3.9)
    assert figures["ttft_ms"]["mean"] == pytest.approx(39.0 if name == "vllm-bench" else 20.0)
    assert figures["tpot_ms"]["mean"] == pytest.approx(5.0)
    assert {"p99", "count"} <= figures["ttft_ms"].keys()
    assert run.notes


def test_several_runs_of_one_file(tmp_path: Path) -> None:
    """Each line of SGLang's file is a run, with or without details; NaN is left out."""
    detailed, summarized = format_called("sglang-bench").read(written.sglang(tmp_path))
    assert len(detailed.requests) == written.COUNT
    assert summarized.load["rate"] == 16.0
    assert summarized.figures["latency_ms"] == {"mean": 54.0, "count": written.COUNT - 1}


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    """Lists of unequal length, times below 0, other files, cut files, missing ones."""
    for changes, message in (
        ({"ttfts": [0.1]}, "itls has 40 entries, and other lists have 1"),
        ({"itls": [[-1.0]] * written.COUNT}, r"itls\[0\] must be a list of seconds"),
        ({"itls": None}, "itls is missing, and ttfts is there"),
        ({"duration": 0}, "duration must be more than 0"),
        ({"duration": "x"}, "duration must be a finite number"),
    ):
        with pytest.raises(WorkloadError, match=message):
            read("vllm-bench", written.vllm(tmp_path, **changes))
    cut = tmp_path / "cut.json"
    whole = written.vllm(tmp_path).read_text(encoding="utf-8")
    cut.write_text(whole[: len(whole) // 2], encoding="utf-8")
    (tmp_path / "empty").mkdir()
    other = write_json(tmp_path / "other.json", {"benchmarks": [{"requests": {"successful": [{}]}}]})
    for name in (*LOADS, *FIGURES):
        for path in (tmp_path / "nowhere", tmp_path / "empty", cut, other):
            with pytest.raises(WorkloadError, match=str(tmp_path)):
                read(name, path)
    early: Any = json.loads(written.guidellm(tmp_path).read_text(encoding="utf-8"))
    early["benchmarks"][0]["requests"]["successful"][0]["info"]["timings"]["request_end"] = 1.0
    with pytest.raises(WorkloadError, match="request_end must be a time at or after request_start"):
        read("guidellm", write_json(tmp_path / "benchmarks.json", early))


HOSTILE: list[Any] = [-1, 1e300, 2**64, "x", "\ud800", [], {}, [None], float("nan")]


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_values_that_no_log_can_hold(value: Any, tmp_path: Path) -> None:
    """Each is refused with the file's name, or is a figure that the run does not have."""
    for number, (name, places) in enumerate(PLACES.items()):
        for place in places:
            path = written.WRITERS[name](tmp_path / f"{number}-{place}")
            file = path / FILES[name] if name in FILES else path
            lines = file.read_text(encoding="utf-8").splitlines()
            content = json.loads(lines[-1])
            *steps, last = place.split(".")
            inner = content
            for step in steps:
                inner = inner[int(step) if step.isdigit() else step]
            inner[int(last) if last.isdigit() else last] = value
            file.write_text("\n".join((*lines[:-1], json.dumps(content))), encoding="utf-8")
            message = str(path)
            try:
                folder = import_results(name, path, tmp_path / f"run-{number}-{place}")
            except WorkloadError as error:
                message = str(error)
            else:
                assert open_run(folder).report().run.imported
            assert str(path) in message


FILES = {"aiperf": "profile_export.jsonl", "inference-perf": "per_request_lifecycle_metrics.json"}
PLACES = {
    "inference-perf": ("0.start_time", "1.info.response_metrics.output_token_times.2", "1.error"),
    "vllm-bench": ("start_times.3", "output_lens.0", "itls.2", "model_id", "duration", "date"),
    "guidellm": ("benchmarks.0.start_time", "benchmarks.0.requests.successful.0.info.timings.request_end"),
    "aiperf": ("metadata.request_start_ns", "metadata.request_end_ns", "error"),
}
