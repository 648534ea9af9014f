"""What a calibration says of a plan, and where it is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.cli.terminal.progress_observer import Terminal
from loadgen.driver.arrivals.rate_profile import LinearRamp
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.load import Closed, Load, Offline
from loadgen.driver.plan import Plan
from loadgen.sessions.capacity import (
    Calibration,
    Capacity,
    CapacityLimit,
    LimitedBy,
    Machine,
    exceeds,
    this_machine,
)
from loadgen.sessions.stored_calibration import calibration_file, save, saved, warn_beyond
from recorder.event import Event, EventType
from tests.driver.manual_clock import open_loop
from workloads.arrivals import ARRIVAL_PROCESSES

if TYPE_CHECKING:
    from pathlib import Path

CAPACITIES = st.builds(
    Capacity,
    greatest=st.integers(0, 10**6),
    chunks_s=st.floats(0, 1e9),
    over=st.none() | st.integers(1, 10**6),
    limit=st.builds(CapacityLimit, by=st.sampled_from(LimitedBy), why=st.text()),
)
CALIBRATIONS = st.builds(
    Calibration,
    machine=st.builds(Machine, host=st.text(), cpus=st.integers(1, 1024)),
    version=st.text(),
    made_at=st.text(),
    workers=st.none() | st.integers(1, 64),
    within_ms=st.floats(0.001, 1000),
    requests_s=CAPACITIES,
    streams=CAPACITIES,
)


def calibration(requests_s: int = 1000, streams: int = 500) -> Calibration:
    """A calibration of this machine."""
    client = CapacityLimit(LimitedBy.CLIENT, "TTFT p99 was off by +3.00 ms")
    return Calibration(
        this_machine(),
        "0.1.0",
        "2026-01-02T03:04:05+00:00",
        None,
        1.0,
        requests_s=Capacity(requests_s, 4.0 * requests_s, 2 * requests_s, client),
        streams=Capacity(streams, 100.0 * streams, 2 * streams, client),
    )


def plan(load: Load, requests: int | None = 100) -> Plan:
    """A plan of nothing but a load."""
    return Plan(load, requests, None, 0, Generation("m"), "chat", 0, Timeouts(60.0))


def findings(load: Load, *, quiet: bool = False) -> list[Event]:
    """The findings that the log gets for a plan."""
    events: list[Event] = []
    warn_beyond(plan(load), events.append, 7, Terminal(quiet=quiet))
    return events


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@given(
    kind=st.sampled_from(sorted(ARRIVAL_PROCESSES)),
    rate=st.floats(0.001, 1e5),
    changes=st.booleans(),
)
def test_a_rate_is_compared_with_the_calibrated_rate(kind: str, rate: float, *, changes: bool) -> None:
    """Up to the capacity there is no warning; of a rate that changes, the highest value counts."""
    load = open_loop(kind, LinearRamp(0.0, rate, 60.0) if changes else rate)
    warning = exceeds(calibration(requests_s=1000), plan(load))
    assert (warning is None) == (rate <= 1000)
    assert warning is None or "1,000" in warning


@given(in_flight=st.integers(1, 10**6), offline=st.booleans())
def test_requests_in_flight_are_compared_with_streams(in_flight: int, *, offline: bool) -> None:
    """In a closed loop its concurrency, offline all requests."""
    load = Offline() if offline else Closed(in_flight)
    warning = exceeds(calibration(streams=500), plan(load, requests=in_flight if offline else None or 10**6))
    assert (warning is None) == (in_flight <= 500)


def test_a_mock_without_capacity_shows_nothing() -> None:
    """A plan is not beyond what could not be measured; a client without capacity exceeds it with any plan."""
    client = calibration(streams=0)
    busy = replace(client.streams, limit=CapacityLimit(LimitedBy.MOCK, "it was late"))
    assert exceeds(client, plan(Closed(1))) is not None
    assert exceeds(replace(client, streams=busy), plan(Closed(1))) is None


@given(result=CALIBRATIONS)
def test_a_calibration_survives_json(result: Calibration) -> None:
    """It is read as it was written."""
    assert Calibration.of_dict(orjson.loads(orjson.dumps(result.to_dict()))) == result
    assert result.to_dict()["streams"]["most"] == result.streams.greatest


def test_what_is_saved_is_found_again(cache: Path) -> None:
    """In the user's cache, only the latest one, and no other file."""
    save(calibration(streams=1))
    save(calibration(streams=2))
    assert saved() == calibration(streams=2)
    assert list(cache.rglob("*.*")) == [calibration_file()]


def test_a_calibration_of_another_machine_says_nothing() -> None:
    """Another host, or other processors to run on."""
    here = calibration()
    for machine in (
        replace(here.machine, host="elsewhere"),
        replace(here.machine, cpus=here.machine.cpus + 1),
    ):
        save(replace(here, machine=machine))
        assert saved() is None
        assert findings(open_loop("poisson", 5000)) == []


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"machine": 1}', "null"])
def test_what_cannot_be_read_says_nothing(text: str) -> None:
    """A damaged file is as good as none."""
    calibration_file().parent.mkdir(parents=True)
    calibration_file().write_text(text)
    assert saved() is None


def test_without_a_calibration_there_is_no_warning() -> None:
    """Calibration is optional."""
    assert saved() is None
    assert findings(open_loop("poisson", 5000)) == []


def test_a_plan_beyond_the_calibration_has_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    """A warning for the log, in sentences and with a remedy, and a line for the user."""
    save(calibration(requests_s=1000))
    assert findings(open_loop("poisson", 1000)) == []
    assert capsys.readouterr().err == ""
    (event,) = findings(open_loop("poisson", 5000))
    assert event.at_ns == 7
    assert event.data is not None
    assert event.data["code"] == "beyond_calibration"
    assert event.data["severity"] == "warning"
    assert "5,000 req/s" in event.data["message"]
    assert "`loadgen calibrate`" in event.data["remedy"]
    assert capsys.readouterr().err.startswith("warning: the plan asks for 5,000 req/s; ")


def test_quiet_leaves_the_warning_in_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    """Standard error stays empty; the log has the finding."""
    save(calibration(streams=10))
    (event,) = findings(Closed(11), quiet=True)
    assert event.type is EventType.FINDING
    assert capsys.readouterr().err == ""
