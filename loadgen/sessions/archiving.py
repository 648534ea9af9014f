"""`loadgen archive`: a run's logs as Parquet, in a folder or an object store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from loadgen.sessions.observer import SILENT
from loadgen.sessions.package_version import package_version
from reporter.archive.place import FOLDER, place

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.sessions.observer import Observer
    from reporter.archive.write import ArchiveProgress


def archive_run(run: Path, to: str | None, observer: Observer = SILENT) -> dict[str, Any]:
    """Archive a run, and check the archive against its logs.

    Args:
        run: Its folder, or its log.
        observer: Gets the progress.
        to: A folder, or an address such as `s3://bucket/prefix`; None for `archive` in the run's folder.

    Returns:
        What there is now: `archive` (its address), `logs`, `files`, `events`, `log_bytes`, `archive_bytes`.

    Raises:
        LogError: As for `reporter.archive.write.archive`.
    """
    from loadgen.sessions.run.run_folder import folder_of
    from reporter.archive.write import archive

    there = to or folder_of(run) / FOLDER
    whole = archive(run, there, package_version("llm-loadgen") or "", _Tenths(observer))
    return {
        "archive": place(there).address,
        "logs": len(whole.logs),
        "files": sum(len(log.files) for log in whole.logs),
        "events": sum(log.events for log in whole.logs),
        "log_bytes": sum(log.log_bytes for log in whole.logs),
        "archive_bytes": whole.archive_bytes,
    }


def described(archived: dict[str, Any], run: Path, *, as_json: bool) -> str:
    """What was archived, and what may be done now; or the same as JSON."""
    if as_json:
        return orjson.dumps(archived, option=orjson.OPT_INDENT_2).decode()
    share = archived["archive_bytes"] / max(archived["log_bytes"], 1)
    return (
        f"{archived['archive']}: {archived['events']:,} events of {archived['logs']} log(s), "
        f"{archived['archive_bytes'] / 1e6:,.1f} MB, {share:.0%} of {archived['log_bytes'] / 1e6:,.1f} MB.\n"
        "Every event was read again, and is the same. Commands read the archive where there is no log: "
        f"events.db and shards in {run} may be deleted."
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
