"""The steps after each run of a suite: the samples file, trackers, and the decision to continue."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import asdict, dataclass, field
from loadgen.sessions.errors import SetupError, UsageError
from loadgen.sessions.extra_packages import importing
from loadgen.sessions.settings.export import ExportSettings
from workloads.registry import service

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from loadgen.sessions.files.series_file import Series
    from loadgen.sessions.observer import Observer
    from loadgen.sessions.series.suite.suite_model import RunTable
    from loadgen.sessions.series_outcome import PointOutcome

SAMPLE_FILES: Final = "sample_files"
"""The key of a series' definition that asks for a file of samples per run."""


def after_run(folder: Path, series: Series, observer: Observer) -> Callable[[PointOutcome], bool]:
    """The steps after each newly made run of a suite.

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
    try:
        service("written_samples")(outcome.folder, folder / sample_file(outcome.point.axes))
    except SetupError as error:
        observer.note(f"note: {error}; write it again with: loadgen export {outcome.folder} --samples FILE")


TRACKERS: Final = "trackers"
"""The key of a series' definition with the trackers of its runs."""

_MODULES: Final[Mapping[str, str]] = {"wandb": "wandb", "sheets": "gspread"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteTracker:
    """A tracker with the options of `loadgen export --to` that it takes."""

    to: str
    project: str | None = None
    entity: str | None = None
    group: str | None = None
    tag: list[str] = field(default_factory=list)
    spreadsheet: str | None = None
    worksheet: str = "Results"
    credentials: str | None = None


def trackers_of(run: RunTable, folder: Path) -> list[dict[str, Any]]:
    """The trackers that `[run]` names, as plain values."""
    chosen = []
    wandb = (run.wandb_project, run.wandb_entity, run.wandb_group, run.wandb_tags)
    if any(wandb):
        project, entity, group = (text or None for text in wandb[:3])
        tags = [tag for tag in map(str.strip, run.wandb_tags) if tag]
        chosen.append(SuiteTracker(to="wandb", project=project, entity=entity, group=group, tag=tags))
    if run.sheets_spreadsheet_id or run.sheets_credentials_path:
        if not (run.sheets_spreadsheet_id and run.sheets_credentials_path):
            raise UsageError("[run] give both sheets_spreadsheet_id and sheets_credentials_path")
        chosen.append(
            SuiteTracker(
                to="sheets",
                spreadsheet=run.sheets_spreadsheet_id,
                worksheet=run.sheets_worksheet,
                credentials=str(folder / Path(run.sheets_credentials_path).expanduser()),
            )
        )
    for tracker in chosen:
        with importing(f"[run] {tracker.to}", tracker.to):
            import_module(_MODULES[tracker.to])
    return [asdict(tracker) for tracker in chosen]


def publish_run(run: Path, trackers: Sequence[Mapping[str, Any]], observer: Observer) -> None:
    """Publish a run to each tracker; one that refuses it does not stop the suite."""
    for tracker in trackers:
        credentials = tracker.get("credentials")
        file = None if credentials is None else Path(str(credentials))
        settings = ExportSettings(run=run, **{**tracker, "credentials": file})
        try:
            service("publish")(settings, settings.to or "")
        except (UsageError, SetupError) as error:
            observer.note(f"note: {error}; publish it again with: loadgen export {run} --to {settings.to}")
