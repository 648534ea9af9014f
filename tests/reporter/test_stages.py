"""The stages in the settings of a load."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from reporter.load_stages import StageReport, stages_of


@pytest.mark.parametrize(
    "load",
    [
        {},
        {"kind": "closed"},
        {"profile": None, "stages": None},
        {"profile": "ramp:1..50,60s"},
        {"profile": "steps:x"},
    ],
)
def test_loads_without_stages(load: dict[str, Any]) -> None:
    """A rate that does not change, or changes all the time, has none."""
    assert list(stages_of(load)) == []


def test_repeated_names_are_numbered() -> None:
    """A stage is labeled by its name only where no other stage has it."""
    rates = [("low", 0.0, "1"), ("high", 10.0, "5"), ("low", 20.0, "1")]
    rows = [{"name": name, "start_s": start, "duration_s": 10.0, "rate": rate} for name, start, rate in rates]
    assert [stage.label for stage in stages_of({"stages": rows})] == [
        "from 0 s: 1/s",
        "high",
        "from 20 s: 1/s",
    ]


def test_steps() -> None:
    """As `loadgen.driver.rate_text` reads them: the last one goes on."""
    assert stages_of({"profile": "steps:10..15x3,1.5s"}) == [
        StageReport("from 0 s: 10/s", 0.0, 0.5),
        StageReport("from 0.5 s: 12.5/s", 0.5, 1.0),
        StageReport("from 1 s: 15/s", 1.0, inf),
    ]


@pytest.mark.parametrize(
    "stage", [{}, {"start_s": 1.0}, {"start_s": 2.0, "duration_s": -1.0}, {"duration_s": 0.0}]
)
def test_stages_of_a_damaged_log_are_left_out(stage: dict[str, Any]) -> None:
    """A stage must last for some time."""
    assert list(stages_of({"stages": [stage]})) == []
