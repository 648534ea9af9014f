"""The steps after each run of a suite: the samples file, trackers, and the decision to continue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.sessions.series.suite.trackers import TRACKERS, publish_run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Any

    from loadgen.sessions.files.series_file import Series
    from loadgen.sessions.observer import Observer
    from loadgen.sessions.series_outcome import PointOutcome

SAMPLE_FILES: Final = "sample_files"
"""The key of a series' definition that asks for a file of samples per run."""


def after_run(folder: Path, series: Series, observer: Observer) -> Callable[[PointOutcome], bool]:
    """The steps after each newly made run of a suite.

    Args:
        folder: The folder of the suite.
        series: The suite.
        observer: Hears why a file was not written.

    Returns:
        Takes the outcome of a run, and says whether the suite stops after it.
    """

    def follow(outcome: PointOutcome) -> bool:
        if series.definition.get(SAMPLE_FILES):
            _write_samples(folder, outcome, observer)
        publish_run(outcome.folder, series.definition.get(TRACKERS, ()), observer)
        return bool(series.definition["stop_on_failure"]) and outcome.exit_code != 0

    return follow


def sample_file(axes: Mapping[str, Any]) -> str:
    """The name of a run's file of samples: `BENCHMARK_MODEL.jsonl`, with `-` for `/` and `:`."""
    benchmark, model = (
        str(axes[name]).replace("/", "-").replace(":", "-") for name in ("benchmark", "model")
    )
    return f"{benchmark}_{model}.jsonl"


def _write_samples(folder: Path, outcome: PointOutcome, observer: Observer) -> None:
    from loadgen.sessions.errors import SetupError
    from loadgen.sessions.exporting.samples import written_samples

    try:
        written_samples(outcome.folder, folder / sample_file(outcome.point.axes))
    except SetupError as error:
        observer.note(f"note: {error}; write it again with: loadgen export {outcome.folder} --samples FILE")
