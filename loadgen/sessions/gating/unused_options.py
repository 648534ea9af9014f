"""Options of a gate that no rule needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loadgen.sessions.settings.gate import GateSettings
    from reporter.render.named_verdict import NamedVerdict


def idle_options(settings: GateSettings, parts: Sequence[NamedVerdict]) -> Iterator[str]:
    """The options that no rule used."""
    asked = {row.group for part in parts for row in part.rows}
    for option, option_value, groups in (
        ("--baseline", settings.baseline, {"baseline", "sweep"}),
        ("--also", settings.also, {"baseline"}),
        ("--accuracy", settings.accuracy, {"accuracy", "baseline", "sweep"}),
        ("--audit", settings.audit, {"audit"}),
    ):
        if option_value and not groups & asked:
            yield option
    if settings.power and not any(row.id == "power" for part in parts for row in part.rows):
        yield "--power"
