"""The table of arrival processes in docs/load.md."""

from __future__ import annotations

import math

from tests import golden
from tests.conftest import ROOT
from workloads.arrivals import ARRIVAL_PROCESSES

LOAD_PAGE = ROOT / "docs" / "load.md"
BEGIN, END = "<!-- arrivals -->\n", "<!-- /arrivals -->"


def test_the_page_of_loads_has_the_table() -> None:
    """`make golden` writes it again."""
    golden.check_part(LOAD_PAGE, BEGIN, END, table())


def table() -> str:
    """The processes with the distribution of their distances, and its coefficient of variation."""
    head = "| `--arrival` | distances at unit rate | coefficient of variation |\n|---|---|---|\n"
    rows = (
        f"| `{name}` | {process.distances} | {variation(name)} |\n"
        for name, process in ARRIVAL_PROCESSES.items()
    )
    return head + "".join(rows)


def variation(name: str) -> str:
    """The coefficient of variation; of a process with a burstiness, at two of them."""
    process = ARRIVAL_PROCESSES[name]
    if not process.takes_burstiness:
        return f"{math.sqrt(process.variance(1.0)):.2g}"
    return ", ".join(f"{math.sqrt(process.variance(b)):.2g} at B = {b:g}" for b in (0.25, 4.0))
