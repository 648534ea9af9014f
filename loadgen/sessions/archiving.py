"""`loadgen archive`: a run's logs as Parquet, in a folder or an object store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from loadgen.sessions.environment import package_version
from loadgen.sessions.files.run_folder import folder_of, require_log
from loadgen.sessions.observer import SILENT, Observer
from recorder.shards import FOLDER as SHARDS
from recorder.store import log_path
from reporter.archive.write import ArchiveProgress, archive
from reporter.log.settings import head
from reporter.log.shard_files import ShardFiles
from reporter.log.storage_place import FOLDER, place

if TYPE_CHECKING:
    from pathlib import Path


def archive_run(run: Path, to: str | None, observer: Observer = SILENT) -> dict[str, Any]:
    """Archive a run, and check the archive against its logs.

    Args:
        run: Its folder, or its log.
        observer: Gets the progress.
        to: A folder, or an address such as `s3://bucket/prefix`; None for `archive` in the run's folder.

    Returns:
        What there is now: `archive` (its address), `logs`, `missing` (the nodes without a log), `files`,
        `events`, `log_bytes`, `archive_bytes`.
    """
    require_log(run, "to have it elsewhere, copy all its files, archive.json last")
    there = to or folder_of(run) / FOLDER
    whole = archive(run, there, package_version("llm-loadgen") or "", _Tenths(observer))
    return {
        "archive": place(there).address,
        "logs": len(whole.logs),
        "missing": sorted(_nodes(run) - {log.node for log in whole.logs if log.node}),
        "files": sum(len(log.files) for log in whole.logs),
        "events": sum(log.events for log in whole.logs),
        "log_bytes": sum(log.log_bytes for log in whole.logs),
        "archive_bytes": whole.archive_bytes,
    }


def _nodes(run: Path) -> set[str]:
    files = ShardFiles.named_by([head(run).environment], log_path(run))
    return set() if files is None else set(files.nodes)


def described(archived: dict[str, Any], run: Path, *, as_json: bool) -> str:
    """What was archived, and what may be done now; or the same as JSON."""
    if as_json:
        return orjson.dumps(archived, option=orjson.OPT_INDENT_2).decode()
    share = archived["archive_bytes"] / max(archived["log_bytes"], 1)
    if missing := archived["missing"]:
        what_now = (
            f"Missing logs: {', '.join(missing)}. The archive and its reports cover only a part of the run. "
            f"If you have them, put them into {run / SHARDS}, remove the archive, and archive the run again."
        )
    else:
        what_now = (
            "Every event was read again, and is the same. Commands read the archive if the log is missing: "
            f"events.db and shards in {run} may be deleted."
        )
    return (
        f"{archived['archive']}: {archived['events']:,} events of {archived['logs']} log(s), "
        f"{archived['archive_bytes'] / 1e6:,.1f} MB, {100 * share:.0f} % of "
        f"{archived['log_bytes'] / 1e6:,.1f} MB.\n"
        f"{what_now}"
    )


class _Tenths:
    """Tells an observer of each tenth of writing and of checking."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._last = ("", 0)

    def __call__(self, progress: ArchiveProgress) -> None:
        tenth = progress.events * 10 // max(progress.of_events, 1)
        if (progress.step, tenth) != self._last and tenth:
            self._last = (progress.step, tenth)
            self._observer.progress(f"{progress.step}: {tenth * 10} % of {progress.of_events:,} events")
