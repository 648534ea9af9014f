"""SWE-fficiency: every ratio of published reports, their harmonic means, and those of imported runs."""

from __future__ import annotations

import csv
import gzip
import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.swefficiency import overall, speedup_of
from loadgen.plugins.imports.imported_log import import_results
from reporter import MetricsReporter
from tests.conformance.agreement import Agreement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loadgen.plugins.evals.grading.swefficiency import Speedup

NEEDS: Final = ("swefficiency",)

_PUBLISHED: Final = {"gold": 1.0, "gemini-2.5-flash": 0.0017, "deepseek-reasoner": 0.0016}
"""Harmonic means of the leaderboard (`docs/index.html`), to four digits."""


def agreements(data: Path) -> Iterator[Agreement]:
    """One line a report, and one for the leaderboard."""
    means = {}
    for path in sorted((data / NEEDS[0]).glob("*.csv.gz")):
        name = path.name.removesuffix(".csv.gz")
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        speedups = [_speedup(row) for row in rows]
        wrong = [
            row["instance_id"]
            for row, speedup in zip(rows, speedups, strict=True)
            if (speedup.of_patch, speedup.ratio)
            != (float(row["pred_speedup_ratio"]), float(row["human_speedup_ratio"]))
        ]
        means[name.split("_maxiter")[0]] = overall(speedups)
        yield Agreement(
            f"swefficiency/official, {name[:40]}", len(rows), len(rows) - len(wrong), wrong=tuple(wrong)
        )
    published = {name: mean for name, mean in _PUBLISHED.items() if name in means}
    off = tuple(
        f"{name}: {means[name]}"
        for name, mean in published.items()
        if not math.isclose(means[name], mean, abs_tol=0.00005)
    )
    if published:
        yield Agreement("swefficiency/harmonic means", len(published), len(published) - len(off), wrong=off)
    yield _imported(data, means)


def _imported(data: Path, means: Mapping[str, float]) -> Agreement:
    """The score of each report as a run that was imported."""
    off = []
    reports = sorted((data / NEEDS[0]).glob("*.csv.gz"))
    with TemporaryDirectory() as temporary:
        for path in reports:
            name = path.name.removesuffix(".csv.gz")
            report = Path(temporary) / f"{name}.csv"
            report.write_bytes(gzip.decompress(path.read_bytes()))
            run = import_results("swefficiency", report, Path(temporary) / name)
            with MetricsReporter(run) as reporter:
                (score,) = reporter.create_report().accuracy
            expected = means[name.split("_maxiter")[0]]
            if score.value is None or not math.isclose(score.value, expected):
                off.append(f"{name}: {score.value}, not {expected}")
    return Agreement("swefficiency/imported runs", len(reports), len(reports) - len(off), wrong=tuple(off))


def _speedup(row: Mapping[str, str]) -> Speedup:
    measured = float(row["raw_pred_speedup_ratio"]) if row["raw_pred_speedup_ratio"] else None
    passes = float(row["correctness"]) == 1
    return speedup_of(measured, float(row["gold_speedup_ratio"]), passes=passes)
