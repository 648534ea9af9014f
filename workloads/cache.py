"""Fetched data in the user's cache: folders of files with checksums.

A folder is `$LOADGEN_CACHE/KEY`, else `$XDG_CACHE_HOME/loadgen/data/KEY`, by default under `~/.cache`. Its
`.manifest.json` has the SHA-256 of each file, and the commit that the files are of. It appears whole or not
at all, and nothing in it is changed afterwards: to have data fetched again, delete its folder.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import orjson

from workloads.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

VARIABLE: Final = "LOADGEN_CACHE"
"""The environment variable that names the cache."""

_MANIFEST: Final = ".manifest.json"


@dataclass(frozen=True, slots=True)
class CachedFiles:
    """A folder of files that were fetched.

    Attributes:
        files: The SHA-256 of each in hexadecimal, by its path in the folder; at least one.
    """

    folder: Path
    files: Mapping[str, str]
    revision: str | None = None


def folder_of(key: str) -> Path:
    """The folder of a key, existing or not; RuntimeError for a user without a home."""
    if cache := os.environ.get(VARIABLE):
        return Path(cache).expanduser() / key
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "loadgen" / "data" / key


def use_cache(folder: str) -> None:
    """Store fetched data in a folder from now on, in this process and in child processes."""
    os.environ[VARIABLE] = str(Path(folder).expanduser().absolute())


def stored(folder: Path) -> CachedFiles | None:
    """The files of a cache folder, None for a missing one; raise `SourceError` for a bad manifest."""
    try:
        manifest = orjson.loads((folder / _MANIFEST).read_bytes())
        return CachedFiles(folder, dict(manifest["files"]), manifest["revision"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        if not folder.exists():
            return None
        raise SourceError(
            f"{folder}: no data that was kept whole; delete the folder, and it is fetched again"
        ) from error


def keep(folder: Path, fetch: Callable[[Path], str | None]) -> CachedFiles:
    """Fetch files into the cache.

    Args:
        folder: Where they will be.
        fetch: Writes the files to the folder that it is given; returns the commit that they are of.

    Raises:
        OSError: They cannot be written.
        Exception: What `fetch` raises; nothing is kept then.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, prefix=".unfinished-") as place:
        made = Path(place, "data")
        made.mkdir()
        revision = fetch(made)
        files = {str(path.relative_to(made)): _sha256(path) for path in _files(made)}
        manifest = {"files": files, "revision": revision}
        (made / _MANIFEST).write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
        try:
            made.rename(folder)
        except OSError:
            if (other := stored(folder)) is not None:  # another process was quicker
                return other
            raise
    return CachedFiles(folder, files, revision)


def _files(folder: Path) -> list[Path]:
    """All files of a folder but hidden ones, which are those of a downloader."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return sorted(
        path for path in paths if not any(p.startswith(".") for p in path.relative_to(folder).parts)
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
