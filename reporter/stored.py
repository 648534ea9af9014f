"""A report as report.json has it, read back."""

from __future__ import annotations

from dataclasses import asdict

import orjson

from reporter.health import RecorderHealth
from reporter.kinds import members
from reporter.report import Report


def report_of(stored: bytes) -> Report:
    """The report of a report.json.

    Raises:
        ValueError: It is not a report of this version.
    """
    from pydantic import TypeAdapter

    plain = members(orjson.loads(stored))
    plain["recorder"] = asdict(RecorderHealth.of_dict(members(plain.get("recorder"))))
    plain["accuracy"] = [
        {"pass_" if name == "pass" else name: value for name, value in members(score).items()}
        for score in plain.get("accuracy") or ()
    ]
    report: Report = TypeAdapter(Report).validate_python(plain)
    return report
