"""The audit of output caching: who answers a repeated prompt from a cache is found out."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.cli.audit import output_caching
from loadgen.cli.resume import resume
from loadgen.cli.typer_options import parameters_of, plain_options
from loadgen.driver.errors import UnreachableError
from loadgen.mock_endpoint.process import MockProcess, start_mock
from loadgen.sessions.errors import UsageError
from loadgen.sessions.gating.given_inputs import audits_in
from loadgen.sessions.series.audit.output_caching import AuditPhase, audit, phases, threshold_of
from loadgen.sessions.series.point_options import Secrets, prepared
from loadgen.sessions.settings.audit import REPLACED, AuditSettings
from loadgen.sessions.settings.perf import PerfSettings
from loadgen.sessions.settings.resume import ResumeSettings
from reporter.report import Validity

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QPS = st.floats(1e-3, 1e6)
SHARE = st.floats(0.01, 0.99)


def perf(**more: Any) -> dict[str, Any]:
    """The options of `loadgen perf` that an audit takes, as the command line gives them."""
    defaults = {
        parameter.name: parameter.default
        for parameter in parameters_of(PerfSettings)
        if parameter.name not in REPLACED
    }
    return {**plain_options(defaults), "url": ["http://127.0.0.1:1"], "model": "m", "header": [], **more}


@pytest.mark.parametrize(
    ("repeated", "completed", "passed"),
    [(11.0, 100, False), (10.999, 100, True), (1.0, 90, True), (1.0, 89, False), (None, 0, False)],
)
def test_the_bound_itself_is_too_fast(repeated: float | None, completed: int, *, passed: bool) -> None:
    """Below 1.1 times the reference passes, and nine tenths must complete."""
    result = audit(AuditPhase(10.0, 90, 100), AuditPhase(repeated, completed, 100), 0.1)
    assert result.passed is passed
    assert result.to_dict()["test"] == "output_caching_test"


@given(QPS, QPS, QPS, SHARE)
def test_a_faster_repetition_never_helps(reference: float, rate: float, other: float, share: float) -> None:
    """And a failure stays one, whatever the rates are."""
    slow, fast = sorted((rate, other))
    asked = AuditPhase(reference, 100, 100)
    if audit(asked, AuditPhase(fast, 100, 100), share).passed:
        assert audit(asked, AuditPhase(slow, 100, 100), share).passed
    assert not audit(AuditPhase(reference, 0, 100), AuditPhase(slow, 100, 100), share).passed


def test_the_phases_have_their_prompts(tmp_path: Path) -> None:
    """Each prompt once, but for those of the warm-up; then one of them, as often."""
    path = tmp_path / "q.jsonl"
    path.write_text("".join(f'{{"prompt": "question {number}"}}\n' for number in range(6)))
    first, two = phases(AuditSettings(sample=4), perf(prompts=str(path), warmup="2"))
    reference, repeated = prepared(first, Secrets()), prepared(two, Secrets())
    assert (reference.plan.requests, len(reference.dataset.samples)) == (4, 6)
    assert (repeated.plan.requests, [sample.prompt for sample in repeated.dataset.samples]) == (
        4,
        ["question 4"],
    )
    assert repeated.dataset.samples[0].index == 0


@pytest.mark.parametrize(
    ("options", "more", "why"),
    [
        ({"requests": 7}, {}, "but only 6 of"),
        ({"requests": 6}, {"warmup": "1"}, "remain after 1 of warm-up"),
        ({}, {"warmup": "6"}, "give fewer --requests, or more prompts"),
        ({}, {"warmup": "2s"}, "--warmup: .* give a number"),
        ({"sample": 6}, {}, "--sample 6"),
    ],
)
def test_too_few_prompts_are_refused(
    tmp_path: Path, options: dict[str, Any], more: dict[str, Any], why: str
) -> None:
    """A prompt that is asked twice in it could come from the cache that is looked for."""
    path = tmp_path / "q.jsonl"
    path.write_text("".join(f'{{"prompt": "question {number}"}}\n' for number in range(6)))
    with pytest.raises(UsageError, match=why):
        phases(AuditSettings(**options), perf(prompts=str(path), **more))


@pytest.mark.parametrize(
    "options", [{"requests": 0}, {"audit_requests": -1}, {"sample": -1}, {"threshold": 0}, {"threshold": 1}]
)
def test_invalid_audit_settings_are_refused(options: dict[str, Any]) -> None:
    """They are refused before anything is sent."""
    with pytest.raises(UsageError, match="must be"):
        AuditSettings(**options)


def test_one_at_a_time_is_allowed_more() -> None:
    """Twice as much, unless something else is said."""
    assert threshold_of(AuditSettings(), perf(concurrency=8)) == 0.1
    assert threshold_of(AuditSettings(), perf(concurrency=None)) == 0.1
    assert threshold_of(AuditSettings(), perf(concurrency=1)) == 0.2
    assert threshold_of(AuditSettings(threshold=0.3), perf(concurrency=1)) == 0.3


@pytest.fixture(scope="module")
def caching() -> Iterator[MockProcess]:
    """An endpoint that answers from a cache: far sooner, however late a busy client reads."""
    with start_mock(cache=True, ttft="150ms", itl="0", tokens="2") as mock:
        yield mock


@pytest.fixture
def calm(monkeypatch: pytest.MonkeyPatch) -> None:
    """No run is invalid: on a busy machine the client is late, and no phase of an audit would count."""
    monkeypatch.setattr("reporter.metrics.validity", lambda _: Validity(valid=True, reasons=[]))


def audited(mock: MockProcess, out: Path, **options: Any) -> int:
    """Run an audit of six requests, one at a time; return its exit code."""
    own = {name: options.pop(name) for name in ("threshold", "json") if name in options}
    settings = AuditSettings(requests=6, out=out, quiet=True, **own)
    with pytest.raises(SystemExit) as end:
        output_caching(settings, perf(url=[mock.url], concurrency=1, **options))
    return end.value.code


@pytest.mark.slow
@pytest.mark.usefixtures("calm")
def test_a_cache_is_found_and_the_audit_can_be_resumed(
    caching: MockProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 1, and the files are those that gate and checkers read; a missing phase is run again.

    Until then no file says how the audit ended; a reference phase that was begun twice is reported.
    """
    folder = tmp_path / "audit"
    assert audited(caching, folder, json=True) == 1
    result = orjson.loads(capsys.readouterr().out)
    assert {"test": "output_caching_test", "passed": False, "threshold": 0.2}.items() <= result.items()
    assert result["audit_qps"] > 1.2 * result["ref_qps"]
    assert audits_in(folder) == {"output_caching": result}
    verified = folder / "audit" / "verify_OUTPUT_CACHING_TEST.txt"
    assert verified.read_text() == "Performance check pass: False\n"
    shutil.rmtree(folder / "02-output_caching")
    series = (folder / "series.json").read_bytes()
    (folder / "series.json").write_bytes(series.replace(caching.url.encode(), b"http://127.0.0.1:1"))
    with pytest.raises(UnreachableError):
        resume(ResumeSettings(run=folder, quiet=True))
    assert list((folder / "audit").iterdir()) == []
    (folder / "series.json").write_bytes(series)
    (folder / "01-reference.cut-1").mkdir()
    with pytest.raises(SystemExit) as end:
        resume(ResumeSettings(run=folder, quiet=True))
    assert end.value.code == 1
    output = capsys.readouterr().out
    assert "FAIL: one prompt repeated" in output
    assert "an earlier reference phase was cut off" in output


@pytest.mark.slow
@pytest.mark.usefixtures("calm")
def test_a_salt_keeps_the_cache_out(
    caching: MockProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every prompt is then another one, and the audit is passed."""
    assert audited(caching, tmp_path / "audit", salt=True, threshold=0.9) == 0
    assert "PASS" in capsys.readouterr().out
    (result,) = audits_in(tmp_path / "audit").values()
    assert (result["passed"], result["salt"], result["audit_completed"]) == (True, True, 6)


def test_an_unreachable_endpoint_gives_no_verdict(tmp_path: Path) -> None:
    """Nothing is left that a gate could read."""
    settings = AuditSettings(requests=2, out=tmp_path / "audit", quiet=True)
    with pytest.raises(UnreachableError):
        output_caching(settings, perf())
    assert not (tmp_path / "audit").exists()
