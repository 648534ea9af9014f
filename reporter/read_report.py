"""A report as report.json has it, read back."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING

import orjson

from reporter.client_health import RecorderHealth
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
    return report_adapter().validate_python(plain)


@cache
def report_adapter() -> TypeAdapter[Report]:
    """Validate reports; made once, which takes 0.2 s: a list of runs reads many."""
    from pydantic import TypeAdapter

    # The annotations of a report name these, which only a report that has them loads.
    from reporter.episodes import Episodes  # noqa: F401
    from reporter.nodes import Nodes  # noqa: F401
    from reporter.values.cache_hits import CacheHits  # noqa: F401
    from reporter.values.cost import Cost  # noqa: F401
    from reporter.values.energy import Energy  # noqa: F401
    from reporter.values.report_section import ReportSection  # noqa: F401
    from reporter.values.server_side import ServerSide  # noqa: F401
    from reporter.values.session_figures import Sessions  # noqa: F401
    from reporter.values.task_score import TaskScore  # noqa: F401

    return TypeAdapter(Report)
