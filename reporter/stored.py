"""A report as report.json has it, read back."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING

import orjson

from reporter.health import RecorderHealth
from reporter.json_values import members
from reporter.report import Report

if TYPE_CHECKING:
    from pydantic import TypeAdapter


def report_of(stored: bytes) -> Report:
    """The report of a report.json.

    Raises:
        ValueError: It is not a report of this version.
    """
    plain = members(orjson.loads(stored))
    plain["recorder"] = asdict(RecorderHealth.of_dict(members(plain.get("recorder"))))
    plain["accuracy"] = [
        {"pass_" if name == "pass" else name: value for name, value in members(score).items()}
        for score in plain.get("accuracy") or ()
    ]
    return _adapter().validate_python(plain)


@cache
def _adapter() -> TypeAdapter[Report]:
    """Validates reports; made once, which takes 0.2 s: a list of runs reads many."""
    from pydantic import TypeAdapter

    return TypeAdapter(Report)
