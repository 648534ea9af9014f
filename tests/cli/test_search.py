"""What `loadgen search` refuses, what it says, and how it ends."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.cli.resume import resume
from loadgen.cli.search import search
from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.report_of_log import make_report
from loadgen.sessions.series.search.requirements import fewest_samples, required_of
from loadgen.sessions.series.search.search_result import SearchOutcome
from loadgen.sessions.series.search.strategy import SearchRange, StopReason, Trial, TrialResult, TrialVerdict
from loadgen.sessions.series.search.trials import CANDIDATES, Trials, fair_seed
from loadgen.sessions.settings.concerns import flat_values
from loadgen.sessions.settings.perf import perf_settings
from loadgen.sessions.settings.resume import ResumeSettings
from loadgen.sessions.settings.search import REPLACED, SearchSettings
from reporter.report import Finding, Validity
from tests.driver.manual_clock import open_loop
from workloads.arrivals import ARRIVAL_PROCESSES

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess

KEY = "sk-right-key"


def options(url: str, **more: Any) -> dict[str, Any]:
    """The options of perf as the command line hands them over."""
    settings = perf_settings(url=[url], model="small-model", api_key=KEY, **more)
    own = {field.name for field in fields(SearchSettings)}
    return {name: value for name, value in flat_values(settings).items() if name not in own | REPLACED}


@pytest.fixture
def _short_scouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scouts of less than a second; in less than half of one, a client that is held up asks nothing."""
    monkeypatch.setattr("loadgen.sessions.series.search.trials.SCOUT_S", 0.7)


@pytest.mark.slow
@pytest.mark.usefixtures("_short_scouts")
def test_a_target_that_even_the_lowest_rate_misses(
    mock: MockProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A scout, a thorough trial, the end; resumed, it reads the same result from the logs."""
    folder = tmp_path / "search"
    settings = SearchSettings(
        require=["ttft:p(50)<2ms"], rate="20..40", point_duration=1, out=folder, json=True, quiet=True
    )
    with pytest.raises(SystemExit) as end:
        search(settings, options(mock.url, on_invalid="warn"))
    result = orjson.loads(capsys.readouterr().out)
    assert end.value.code == 1
    assert (result["found"], result["rate"], result["between"]) == (False, None, [20.0, 40.0])
    assert result["stopped_because"] == "low_misses"
    assert "No passing rate between 20 and 40 req/s: even 20 failed: ttft:p(50)<2ms: " in result["message"]
    assert [(trial["rate"], trial["thorough"], trial["verdict"]) for trial in result["tried"]] == [
        (20.0, False, "missed"),
        (20.0, True, "missed"),
    ]
    with pytest.raises(SystemExit) as end:
        resume(ResumeSettings(run=folder, api_key=KEY, json=True, quiet=True))
    assert end.value.code == 1
    assert orjson.loads(capsys.readouterr().out) == result


@pytest.mark.slow
@pytest.mark.usefixtures("_short_scouts")
def test_an_endpoint_that_meets_the_highest_load_passes(
    mock: MockProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing was missed: the limit is above the range, and the result says so."""
    settings = SearchSettings(
        require=["ttft:max<60s"], point_duration=1, out=tmp_path / "search", json=True, concurrency="1..2"
    )
    with pytest.raises(SystemExit) as end:
        search(settings, options(mock.url, on_invalid="warn"))
    out, err = capsys.readouterr()
    result = orjson.loads(out)
    lines = [line for line in err.splitlines() if line.startswith("  ")]
    for line, trial in zip(lines, result["tried"], strict=True):
        assert f", {trial['verdict']}" in line
    assert (end.value.code, result["stopped_because"]) == (0, "high_meets")
    assert (result["found"], result["concurrency"], result["between"]) == (False, 2, [2, None])
    assert "the top of the range. The limit is above it: search --concurrency 2.." in result["message"]
    assert [str(trial["concurrency"]) for trial in result["tried"]][::2] == ["1", "2"]


def test_a_trial_that_was_overloaded_says_so_in_its_line(made_run: Path) -> None:
    """As in the table at the end."""
    trials = Trials("rate", required_of(["ttft:max<10s"], None), {}, least_s=1.0)
    assert trials.remark(ended(made_run, "rate", "full", "overloaded")).startswith(
        "missed (overloaded, completed "
    )


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"rate": "1..2", "concurrency": "1..2"}, "--rate and --concurrency contradict each other"),
        ({"within": 0.0}, "--within 0: must be from 0.1% to 100%"),
        (
            {"point_duration": 100.0, "budget": 50.0},
            "--point-duration 100 s: must be at least 1 s, and no more",
        ),
    ],
)
def test_settings_that_contradict_each_other_are_refused(overrides: Any, message: str) -> None:
    """The message names both."""
    with pytest.raises(UsageError) as error:
        SearchSettings(**overrides)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"require": []}, "nothing is required"),
        ({"require": ["qps>5"]}, "share of good requests; qps:value is not such a figure"),
        ({"require": ["accuracy.x>5"]}, "accuracy.x:value is not such a figure"),
        ({"require": ["osl:p(9)<5"]}, "output_tokens:p(9) is not such a figure"),
        ({"require": ["tps_per_user:mean>5"]}, "tps_per_user:mean is not such a figure"),
        ({"require": ["good(ttft<1s):rate>5"]}, "good:rate is not such a figure"),
        ({"require": ["ttft:p(99):delta<5%"]}, "a search compares nothing with a baseline"),
        ({"require": ["ttft{a:b}:p(99)<5s"]}, "a search is about all requests"),
        (
            {"require": ["ttft:p(99)<5s@es99-estimate"]},
            "a search proves it in its own way (docs/searches.md)",
        ),
        ({"require": ["error<5%@ucl95"]}, "leave the confidence out"),
        ({"require": ["ttft:p(99)<1s!warn"]}, "a target that is only shown (warn) cannot be searched for"),
        ({"rate": "5..2"}, "--rate 5..2: write LOW..HIGH"),
        ({"rate": "0..2"}, "--rate 0..2: write LOW..HIGH"),
        ({"rate": "-1..2"}, "--rate -1..2: write LOW..HIGH"),
        ({"rate": "1e..2"}, "--rate 1e..2: write LOW..HIGH"),
        ({"rate": "7"}, "--rate 7: write LOW..HIGH"),
        ({"concurrency": "1.5..8"}, "--concurrency 1.5..8: write LOW..HIGH, two whole numbers"),
    ],
)
def test_a_search_for_nothing_is_refused(overrides: Any, message: str, tmp_path: Path) -> None:
    """Before anything is sent, or written."""
    settings = SearchSettings(**{"require": ["ttft:p(99)<1s"], "out": tmp_path / "s", **overrides})
    with pytest.raises(UsageError) as error:
        search(settings, options("http://127.0.0.1:1"))
    assert message in str(error.value)
    assert not (tmp_path / "s").exists()


def test_a_percentile_says_how_many_requests_it_takes() -> None:
    """Enough that none over the bound is not chance: 0.99**299 < 5 %."""
    assert fewest_samples(required_of(["ttft:p(99)<1s"], None)) == 299
    assert fewest_samples(required_of(["ttft:p(50)<1s", "error<1%"], None)) == 299
    assert fewest_samples(required_of(["ttft:mean<1s", "latency:max<9s"], None)) == 0


RULES = """
schema: rulesets/1
ruleset: {name: chat, version: "1"}
validity: {max_error_rate: 0.05, min_samples: 1000}
targets:
  - ttft:p(99)<1s@es99
  - qps>5
  - {id: shown, metric: tpot, stat: mean, op: "<", value: 1, unit: s, severity: info}
"""


def test_rules_that_are_not_bounds_must_be_skipped(tmp_path: Path) -> None:
    """With --skip, so that no user takes them for searched; a maximum error rate is a bound."""
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES)
    with pytest.raises(
        UsageError, match="qps:value is not such a figure; leave it out with --skip 'qps:value>5req/s'"
    ):
        required_of([], str(rules))
    required = required_of([], str(rules), skip=["qps:value>5req/s", "shown"])
    assert [target.id for target in required.targets] == ["ttft:p(99)<1s@es99", "validity.max_error_rate"]
    # With 99 % it takes more of them than with 95 %: 0.99**459 < 1 %.
    assert fewest_samples(required) == 459
    with pytest.raises(UsageError, match="all rules are left out"):
        required_of([], str(rules), skip=["target", "validity"])


def test_that_a_percentile_is_missed_by_far_needs_fewer_requests() -> None:
    """Where a scout has missed, the first thorough trial does not wait for the 299 of a p99."""

    def scout(verdict: TrialVerdict) -> Any:
        return SimpleNamespace(tried=TrialResult(Trial(2.0, thorough=False), verdict))

    trials = Trials("rate", required_of(["ttft:p(99)<1s"], None), {}, least_s=12.0)
    report = SimpleNamespace(latency_ms=None)
    met, missed = scout(TrialVerdict.MET), scout(TrialVerdict.MISSED)
    met.outcome = missed.outcome = SimpleNamespace(report=report)
    first, second = Trial(2.0, thorough=True), Trial(2.0, thorough=True, extensions=1)
    assert trials.seconds(first, [met]) == 299 / 2
    assert trials.seconds(first, [missed]) == 12
    assert trials.seconds(second, [missed]) == 299


@pytest.mark.parametrize(
    ("tried", "message"),
    [
        ([], "no thorough trial passed or failed"),
        ([TrialResult(Trial(40, thorough=True), TrialVerdict.MET)], "the limit is not below 40 req/s"),
        ([TrialResult(Trial(40, thorough=True), TrialVerdict.MISSED)], "the limit is below 40 req/s"),
        ([TrialResult(Trial(40, thorough=False), TrialVerdict.MET)], "no thorough trial passed or failed"),
    ],
)
def test_a_search_that_ran_out_of_time_says_what_it_knows(
    tried: list[TrialResult], message: str, tmp_path: Path
) -> None:
    """And no more: a load that was never tried is not a bound."""
    judged: Any = [SimpleNamespace(tried=results, why="") for results in tried]
    outcome = SearchOutcome(
        "rate", SearchRange(1, 100, 0.03, whole=False), StopReason.BUDGET, judged, tmp_path
    )
    assert outcome.message == f"Time budget exhausted before a limit was found. So far: {message}."


@pytest.mark.parametrize("kind", sorted({*ARRIVAL_PROCESSES} - {"constant"}))
def test_a_fair_seed_brings_as_many_requests_as_the_rate_calls_for(kind: str) -> None:
    """Within half a percent, where a seed by chance is off by several."""
    process = ARRIVAL_PROCESSES[kind]
    seed = fair_seed(open_loop(kind, 40.0, 0.8 if process.takes_burstiness else None), 12.0, first=100)
    positions = process.positions(seed, 0.8)
    count = 0
    while next(positions) < 480:
        count += 1
    assert 100 <= seed < 100 + CANDIDATES
    assert abs(count - 480) <= 3


def test_a_constant_rate_needs_no_choice() -> None:
    """All seeds are alike; of very many arrivals as well."""
    assert fair_seed(open_loop("constant", 40.0), 12.0, first=7) == 7
    assert fair_seed(open_loop("poisson", 40_000.0), 12.0, first=7) == 7


@pytest.mark.parametrize(
    ("stopped", "code", "message"),
    [
        (StopReason.PRECISION, 0, "Highest passing rate: 40 req/s (41 failed: too late)"),
        (StopReason.LOW_MISSES, 1, "No passing rate between 1 and 100 req/s: even 1 failed: too late"),
        (
            StopReason.HIGH_MEETS,
            0,
            "Highest passing rate: 100 req/s, the top of the range. The limit is above",
        ),
        (StopReason.INVALID, 4, "The client was the limit, which says nothing about the endpoint. too late"),
        (
            StopReason.BUDGET,
            5,
            "Time budget exhausted before a limit was found. So far: the limit is between 40",
        ),
        (StopReason.INCONCLUSIVE, 5, "No clear result between 1 and 100 req/s."),
        (StopReason.INTERRUPTED, 130, "Interrupted. So far: the limit is between 40 and 41 req/s."),
    ],
)
def test_every_end_has_a_code_and_a_sentence(
    stopped: StopReason, code: int, message: str, tmp_path: Path
) -> None:
    """Nothing is missed by an endpoint that meets the highest load, but the limit is not found."""
    outcome: Any = SimpleNamespace(report=SimpleNamespace(run=SimpleNamespace(gpus=None), energy=None))
    met, missed = (
        TrialResult(Trial(load, thorough=True), verdict)
        for load, verdict in ((40, TrialVerdict.MET), (41, TrialVerdict.MISSED))
    )
    judged: Any = [
        SimpleNamespace(tried=met, why="", outcome=outcome),
        SimpleNamespace(tried=missed, why="too late", outcome=outcome),
    ]
    outcome = SearchOutcome("rate", SearchRange(1, 100, 0.03, whole=False), stopped, judged, tmp_path)
    assert outcome.exit_code == code
    assert message in outcome.message
    assert outcome.load == {StopReason.PRECISION: 40, StopReason.HIGH_MEETS: 100}.get(stopped)


FAILURES = {"refused", "http_500"}


reported = cache(lambda run: make_report(run, None))


def ended(run: Path, axis: str, trial: str, *errors: str) -> Any:
    """A run as a series hands it over, of a report with these findings, or five failures of a name each."""
    report = reported(run)
    findings = [Finding(code, "error", f"{code}!") for code in errors if code not in FAILURES]
    failures = {code: 5 for code in errors if code in FAILURES}
    counts = replace(report.counts, failed=sum(failures.values()), by_error=failures)
    valid = Validity(not findings, [finding.message for finding in findings])
    changed = replace(report, findings=findings, counts=counts, validity=valid)
    point = SimpleNamespace(axes={axis: 4.0, "trial": trial})
    return SimpleNamespace(number=0, point=point, folder=run, report=changed)


@pytest.mark.parametrize(
    ("axis", "trial", "errors", "require", "verdict", "why"),
    [
        ("concurrency", "full", (), "ttft:max<10s", TrialVerdict.MET, ""),
        ("concurrency", "full", (), "ttft:p(50)<10s", TrialVerdict.MET, ""),
        (
            "concurrency",
            "full-x2",
            (),
            "ttft:p(99)<10s",
            TrialVerdict.UNCLEAR,
            "ttft:p(99)<10s: 0 of 10 are over it",
        ),
        (
            "concurrency",
            "full",
            (),
            "ttft:p(50)<1us",
            TrialVerdict.MISSED,
            "ttft:p(50)<1us: 10 of 10 are over it",
        ),
        ("concurrency", "full", (), "ttft:p(50)<10s@ucl99", TrialVerdict.MET, ""),
        (
            "concurrency",
            "full",
            (),
            "ttft:p(70)<10s@ucl99",
            TrialVerdict.UNCLEAR,
            "ttft:p(70)<10s@ucl99: 0 of 10",
        ),
        ("concurrency", "full", (), "tps_per_user:p(50)>=1", TrialVerdict.MET, ""),
        (
            "concurrency",
            "full",
            (),
            "tps_per_user:p(99)>1e6",
            TrialVerdict.MISSED,
            "tps_per_user:p(99)>1000000tok/s: ",
        ),
        ("concurrency", "full", (), "good(ttft<10s):fraction>0.5", TrialVerdict.MET, ""),
        (
            "concurrency",
            "full",
            (),
            "good(ttft<1us):fraction>0.5",
            TrialVerdict.MISSED,
            "good(ttft<1us):fraction>0.5: 10 of 10 are",
        ),
        ("concurrency", "full", (), "ttft:min<1us", TrialVerdict.MISSED, "ttft:min<1us: the min is "),
        (
            "concurrency",
            "full",
            ("http_500",),
            "ttft:p(90)<10s",
            TrialVerdict.MISSED,
            "ttft:p(90)<10s: 0 of 10 are over it, and 5 failed",
        ),
        ("concurrency", "full", ("http_500",), "itl:p(90)<10s", TrialVerdict.MET, ""),
        (
            "rate",
            "full",
            ("refused", "nothing_completed"),
            "ttft:max<10s",
            TrialVerdict.UNCLEAR,
            "5 requests were",
        ),
        ("rate", "scout", ("refused", "nothing_completed"), "ttft:max<10s", TrialVerdict.MISSED, "nothing_"),
        ("concurrency", "scout", (), "ttft:p(99)<10s", TrialVerdict.MET, ""),
        ("rate", "full", ("client_limited",), "ttft:max<10s", TrialVerdict.INVALID, "client_limited!"),
        ("rate", "full", ("nothing_completed",), "ttft:max<10s", TrialVerdict.MISSED, "nothing_completed!"),
        (
            "rate",
            "full",
            ("overloaded", "client_limited"),
            "ttft:max<10s",
            TrialVerdict.MISSED,
            "overloaded, c",
        ),
    ],
)
def test_a_trial_says_what_its_run_says(
    made_run: Path, axis: str, trial: str, errors: Any, require: str, verdict: TrialVerdict, why: str
) -> None:
    """The endpoint's faults are misses, the client's are invalid, and few requests leave a p99 unclear."""
    trials = Trials(axis, required_of([require], None), {}, least_s=1.0)
    [judged] = trials.evaluated([ended(made_run, axis, trial, *errors)])
    assert judged.tried.verdict is verdict
    assert judged.why.startswith(why)
    assert (judged.tried.limit is not None) == ("overloaded" in errors)
    assert judged.tried.trial.extensions == (1 if trial == "full-x2" else 0)
