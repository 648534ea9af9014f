"""The submitter's declarations on a curve."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Curve:
    """The declared ends of a curve.

    Attributes:
        c_max: The greatest concurrency; None where no point has one.
        c_min: Where Ultra Low ends (`c_min_override` of system_desc.json); None for the lowest point.
    """

    c_max: int | None
    c_min: int | None = None
