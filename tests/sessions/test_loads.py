"""From options to a load: what each says, how long the run is, and what contradicts itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.arrivals.rate_text import profile
from loadgen.driver.arrivals.stages import Stage, Stages
from loadgen.driver.load import Closed, Load, Offline, Open, TraceArrivals, load_record
from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.loads import counts_of, duration_of, load_of, warmup_of, with_dataset
from loadgen.sessions.settings.perf import PerfSettings, perf_settings
from tests.driver.manual_clock import open_loop
from workloads.conversation_sample import ConversationSample, FollowUp
from workloads.dataset import Dataset

if TYPE_CHECKING:
    from pathlib import Path


def settings_of(**options: Any) -> PerfSettings:
    """Settings with those options."""
    return perf_settings(url="h", model="m", **options)


def dataset(rows: int = 7, *, talks: bool = False, synthetic: bool = False) -> Dataset:
    """A dataset with this number of samples, or conversations."""
    more = (FollowUp(({"role": "user", "content": "more"},)),) if talks else ()
    samples = tuple(ConversationSample(k, "question", follow_ups=more) for k in range(rows))
    return Dataset("chats", samples, "0" * 64, synthetic=synthetic)


@pytest.mark.parametrize(
    ("options", "load"),
    [
        ({}, Closed(8)),
        ({"concurrency": 3, "think": "2s"}, Closed(3, "2s")),
        ({"rate": "20"}, open_loop("poisson", 20.0)),
        ({"rate": "20", "arrival": "constant"}, open_loop("constant", 20.0)),
        (
            {"rate": "20", "arrival": "gamma", "burstiness": 0.5},
            open_loop("gamma", 20.0, 0.5),
        ),
        (
            {"rate": "ramp:1..50,60s", "arrival": "uniform"},
            open_loop("uniform", profile("ramp:1..50,60s")),
        ),
        ({"trace": "a.jsonl"}, Open(TraceArrivals(1.0))),
        ({"trace": "a.jsonl", "trace_speed": 2.0}, Open(TraceArrivals(2.0))),
        ({"trace": "a.jsonl", "concurrency": 3}, Closed(3)),
        ({"trace": "a.jsonl", "offline": True}, Offline()),
        ({"offline": True}, Offline()),
        ({"rate": "20", "max_concurrency": 4}, open_loop("poisson", 20.0, limit=4)),
        ({"offline": True, "max_concurrency": 4}, Offline(limit=4)),
    ],
)
def test_options_make_a_load(options: dict[str, Any], load: Load) -> None:
    """Each kind of load has its option."""
    assert load_of(settings_of(**options).load) == load


def test_stages_make_a_load(tmp_path: Path) -> None:
    """They are read from their file."""
    (tmp_path / "s.yaml").write_text("[{duration: 5, rate: 2}, {duration: 1m, rate: 'sine:5,5,1s', name: b}]")
    load = load_of(settings_of(stages=str(tmp_path / "s.yaml"), arrival="constant").load)
    expected = Stages((Stage(0, 5, profile("2")), Stage(5, 60, profile("sine:5,5,1s"), "b")))
    assert load == open_loop("constant", expected)
    assert load_record(load)["stages"][1] == {
        "name": "b",
        "start_s": 5.0,
        "duration_s": 60.0,
        "rate": "sine:5,5,1s",
    }


def loads_of(options: dict[str, Any]) -> Any:
    """The load, and its warm-up."""
    settings = settings_of(**options)
    return load_of(settings.load), warmup_of(settings.load)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"rate": "5", "concurrency": 5}, "--concurrency and --rate contradict each other"),
        ({"rate": "5", "stages": "s.yaml"}, "--rate and --stages contradict each other"),
        (
            {"arrival": "uniform"},
            "--arrival is the distribution of requests in time: give --rate or --stages",
        ),
        ({"trace": "t", "arrival": "uniform"}, "--arrival is the distribution of requests in time"),
        ({"rate": "5", "burstiness": 2.0}, "--arrival gamma and --burstiness go together"),
        ({"rate": "5", "arrival": "gamma"}, "--arrival gamma and --burstiness go together"),
        ({"rate": "5", "trace_speed": 2.0}, "--trace-speed is the speed of --trace"),
        ({"requests": 5, "sessions": 5}, "--requests and --sessions contradict each other"),
        ({"passes": 2, "sessions": 5}, "--sessions and --passes contradict each other"),
        ({"passes": 0}, "--passes 0: must be 1 or more"),
        ({"passes": 2, "trace": "t"}, "--passes: a trace is replayed once"),
        ({"stop_on_overload": True}, "--stop-on-overload: only an open loop"),
        ({"stop_on_overload": True, "offline": True}, "--stop-on-overload: only an open loop"),
        ({"offline": True, "think": "2s"}, "--think: with --offline no user waits"),
        ({"offline": True, "steady": True}, "--steady: an offline load has no steady state"),
        ({"offline": True, "warmup": "30s"}, "--warmup 30s: with --offline requests leave at once"),
        ({"rate": "fast"}, "--rate 'fast': 'fast' is not a number. Possible are 20, ramp:"),
        ({"rate": "sine:5,6,60s"}, "--rate 'sine:5,6,60s': a sine of mean 5 and amplitude 6"),
        ({"think": "2"}, "--think '2': '2' has no unit"),
        ({"think": "-2s"}, "--think '-2s'"),
        ({"stages": "nowhere.yaml"}, "--stages nowhere.yaml: cannot be read (No such file or directory)"),
        ({"warmup": "many"}, "--warmup 'many' is not a duration"),
        ({"warmup": "1.5"}, "--warmup '1.5': give a number of requests (20), or a time with its unit (30s)"),
        ({"warmup": ""}, "--warmup '': give a number"),
        ({"warmup": "9" * 5000}, "--warmup '999"),
        ({"think": "lognormal:1s,30"}, "--think 'lognormal:1s,30': its mean is 2.70718e+195 s"),
        ({"think": f"{'9' * 400}s"}, "--think '999"),
    ],
)
def test_what_contradicts_itself(options: dict[str, Any], complaint: str) -> None:
    """Exit 2 with a sentence, before anything is sent."""
    with pytest.raises(UsageError) as caught:
        loads_of(options)
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("options", "duration_s"),
    [
        ({}, None),
        ({"duration": 5.0}, 5.0),
        ({"rate": "20"}, None),
        ({"rate": "ramp:1..50,60s"}, 60.0),
        ({"rate": "ramp:1..50,60s", "requests": 5}, None),
        ({"rate": "ramp:1..50,60s", "sessions": 5}, None),
        ({"rate": "ramp:1..50,60s", "duration": 90.0}, 90.0),
        ({"rate": "sine:20,10,60s"}, None),
        ({"trace": "t"}, None),
    ],
)
def test_how_long_a_run_is(options: dict[str, Any], duration_s: float | None) -> None:
    """As was said; or as long as the rate changes, where nothing is counted."""
    settings = settings_of(**options)
    assert duration_of(settings.load, settings.tasks.repeats, load_of(settings.load)) == duration_s


@pytest.mark.parametrize("requests", [None, 5])
def test_stages_end_the_run(tmp_path: Path, requests: int | None) -> None:
    """After the last one nothing comes, however many were asked for."""
    (tmp_path / "s.csv").write_text("duration,rate\n5,2\n7.5,3\n")
    settings = settings_of(stages=str(tmp_path / "s.csv"), requests=requests)
    assert duration_of(settings.load, settings.tasks.repeats, load_of(settings.load)) == 12.5


@pytest.mark.parametrize(("text", "warmup"), [("0", (0, None)), (" 20 ", (20, None)), ("1.5m", (0, 90.0))])
def test_a_warm_up_is_a_number_or_a_time(text: str, warmup: tuple[int, float | None]) -> None:
    """A time has a unit."""
    assert warmup_of(settings_of(warmup=text).load) == warmup


@pytest.mark.parametrize(
    ("options", "of", "counts"),
    [
        ({}, dataset(), (7, None)),
        ({}, dataset(talks=True), (None, 7)),
        ({}, dataset(150, synthetic=True), (100, None)),
        ({"duration": 5.0}, dataset(), (None, None)),
        ({"duration": 5.0, "requests": 3}, dataset(), (3, None)),
        ({"duration": 5.0}, dataset(talks=True), (None, None)),
        ({"sessions": 3}, dataset(talks=True), (None, 3)),
        ({"passes": 2}, dataset(), (14, None)),
        ({"passes": 2}, dataset(talks=True), (None, 14)),
        ({"trace": "t", "duration": 5.0}, dataset(), (7, None)),
        ({"trace": "t", "requests": 3}, dataset(), (3, None)),
        ({"trace": "t"}, dataset(talks=True), (None, 7)),
        ({"trace": "t", "concurrency": 2, "duration": 5.0}, dataset(talks=True), (None, None)),
        ({"trace": "t", "concurrency": 2, "passes": 3}, dataset(talks=True), (None, 21)),
    ],
)
def test_how_many_are_asked(
    options: dict[str, Any], of: Dataset, counts: tuple[int | None, int | None]
) -> None:
    """Requests, or conversations where the dataset has some; each sample once where nothing was said."""
    settings = settings_of(**options)
    duration_s = duration_of(settings.load, settings.tasks.repeats, load_of(settings.load))
    assert counts_of(settings.load, settings.tasks.repeats, of, duration_s) == counts


@pytest.mark.parametrize(
    ("options", "of", "complaint"),
    [
        ({"requests": 3}, dataset(talks=True), "--requests 3: chats has conversations, of several requests"),
        ({"sessions": 3}, dataset(), "--sessions 3: chats has no conversations of several turns"),
        (
            {"rate": "5", "think": "2s"},
            dataset(),
            "--think 2s has no effect in an open loop",
        ),
        (
            {"trace": "t", "requests": 8},
            dataset(),
            "--requests 8: the trace chats has 7, and is replayed once",
        ),
    ],
)
def test_what_does_not_go_with_the_dataset(options: dict[str, Any], of: Dataset, complaint: str) -> None:
    """What depends on the questions is refused once they are known."""
    with pytest.raises(UsageError) as caught:
        counts_of(settings_of(**options).load, None, of, None)
    assert complaint in str(caught.value)


def test_a_rate_of_conversations_is_a_higher_rate_of_requests() -> None:
    """The rate of requests follows from all turns; of long datasets, from those of some conversations."""
    load = open_loop("poisson", 20.0)
    assert load.peak_rate == 20
    assert replace(load, turns=2.0).peak_rate == 40
    assert with_dataset(load, dataset()) == load
    for talks in (dataset(talks=True), dataset(2501, talks=True)):
        assert with_dataset(load, talks) == replace(load, turns=2)
