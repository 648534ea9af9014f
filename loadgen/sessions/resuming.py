"""Finishing an interrupted run: the remaining requests, the scores, and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.driver.workers.launcher import WorkerLauncher
from loadgen.sessions.files.run_folder import folder_of
from loadgen.sessions.observer import SILENT, Observer
from loadgen.sessions.run.resumption import (
    announce_rest,
    end_log,
    is_complete,
    prepare_resumption,
    resumable,
    resumed_settings,
)
from loadgen.sessions.run.scoring_at_end import score
from loadgen.sessions.run_session import conduct, reported, score_if_over
from workloads.registry import service

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.sessions.run.preparation import Prepared
    from loadgen.sessions.settings.perf import PerfSettings
    from loadgen.sessions.settings.resume import ResumeSettings
    from recorder.errors import WriterError
    from reporter.log.so_far import RunSoFar
    from reporter.report import Report


def finish_run(settings: ResumeSettings, observer: Observer = SILENT) -> tuple[Report, Path, PerfSettings]:
    """Finish a run; return the report, the folder and the settings.

    Raises:
        BeingWrittenError: It is still running.
        UsageError: It cannot be resumed; the message says why, and what to do.
    """
    run, folder = resumable(settings.run), folder_of(settings.run)
    perf = resumed_settings(settings, run)
    if is_complete(run):
        score(perf.tasks, perf.cluster, folder, observer)
        return reported(folder, None, perf, observer=observer), folder, perf
    measured = _finish_here if perf.cluster.ray is None else service("finish_on_nodes")
    prepared, broken = measured(settings, run, folder, observer)
    score_if_over(prepared, folder, broken, observer)
    return reported(folder, broken, perf, observer=observer), folder, perf


def _finish_here(
    settings: ResumeSettings, run: RunSoFar, folder: Path, observer: Observer
) -> tuple[Prepared, WriterError | None]:
    prepared = prepare_resumption(settings, run)
    if not prepared.left:
        end_log(prepared, folder)
        return prepared, None
    announce_rest(prepared, observer)
    with WorkerLauncher(prepared.perf.client.transport) as launcher:
        return prepared, conduct(prepared, launcher, folder, observer)
