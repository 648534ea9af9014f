"""The Pareto plot of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reporter.log.planes import INTERACTIVITY, Plane, planes
from reporter.pareto import Spot
from reporter.render.plot import pareto

if TYPE_CHECKING:
    from pathlib import Path


def test_the_plot_names_every_run_and_the_knee(tmp_path: Path) -> None:
    """As SVG, the same each time; with no spots as well."""
    spots = (Spot("c1", 100, 10), Spot("c8", 700, 11), Spot("c64", 800, 50), Spot("c65", 400, 66))
    plane = Plane(INTERACTIVITY, "TPOT p50", "user_tps", "1000 / median TPOT", spots)
    for name in ("one.svg", "two.svg"):
        pareto([plane, planes([])[1]], tmp_path / name)
    drawn = (tmp_path / "one.svg").read_text()
    assert drawn.startswith("<?xml")
    assert drawn == (tmp_path / "two.svg").read_text()
    assert all(f"<!-- {name} -->" in drawn for name in ("c1", "c8 (knee)", "c64", "c65"))
    assert "1000 / median TPOT" in drawn
    assert "median TTFT in ms" in drawn
    pareto(planes([]), tmp_path / "empty.svg")
    assert (tmp_path / "empty.svg").stat().st_size > 0
