"""All plots of a run, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.plots.distributions import DISTRIBUTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.plots.definition import PlotDefinition

PLOTS: Final[Mapping[str, PlotDefinition]] = {definition.name: definition for definition in DISTRIBUTIONS}
