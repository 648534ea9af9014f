"""Published data of benchmarks, stored in the user's cache.

Of the hub of Hugging Face either the rows of a split (`workloads.hugging_face`), or files of the repository
as they are; else files of other publishers by their addresses. What is kept is used without asking the
publisher again, so that a benchmark without a pinned revision stays with the one that was fetched first.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from fnmatch import fnmatch
from functools import partial
from hashlib import file_digest, sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import orjson

from lazy_dataclasses import dataclass
from workloads.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from workloads.workload import Source

ROWS: Final = "rows.parquet"
"""What the rows of a split are kept as."""

_PATIENCE_S: Final = 60
_LONGEST: Final = 300
_DIGITS: Final = 12
_UNREACHABLE: Final = frozenset({"ConnectError", "ConnectTimeout", "ReadTimeout", "LocalEntryNotFoundError"})
"""The names of errors of the hub's client that do not inherit from `ConnectionError`, but mean the same."""


def fetched(name: str, source: Source) -> CachedFiles:
    """The data of a source, cached or fetched; raise `SourceError`, which says how to use a folder."""
    if source.hub is None and not source.urls:
        raise SourceError(f"{name}: its data cannot be fetched from anywhere; {_instead(source)}")
    try:
        folder = folder_of(_key(source))
        return stored(folder) or keep(folder, partial(_fetch, name, source))
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(
            f"{name}: data cannot be kept in the user's cache ({reason}); name a folder that can be "
            f"written with --cache-dir or LOADGEN_CACHE, or {_instead(source)}"
        ) from error


def is_kept(source: Source) -> bool:
    """Whether the data of a source was fetched before and is in the cache."""
    try:
        return folder_of(_key(source)).is_dir()
    except RuntimeError:
        return False


def _instead(source: Source) -> str:
    """The end of a message: how to do without a publisher."""
    return f"put {' or '.join(source.files)} into a folder, and name it with --data DIR"


def _key(source: Source) -> str:
    """The folder of a source: another one for any other revision, part or file."""
    if source.hub is None:
        return f"urls/{_digest(source.urls)}"
    part = f"{source.config or 'default'}--{source.split or 'only'}"
    if source.repository:
        part = f"files-{_digest(source.repository)}"
    named = (source.hub.replace("/", "--"), source.revision or "newest", part)
    return "/".join(re.sub(r"[^\w.-]", "_", name) for name in named)


def _digest(texts: Iterable[str]) -> str:
    return sha256("\n".join(texts).encode()).hexdigest()[:_DIGITS]


def _fetch(name: str, source: Source, folder: Path) -> str | None:
    """Write the files of a source to a folder; return the commit."""
    if source.hub is None:
        for url in source.urls:
            _download(name, source, url, folder)
        return None
    if source.repository:
        return _repository(name, source, source.hub, folder)
    from workloads.hugging_face import Reference, save

    text = f"{name}: {':'.join(filter(None, (source.hub, source.config, source.split)))}"
    reference = Reference(text, source.hub, source.config, source.split, source.revision, _instead(source))
    return save(reference, folder / ROWS)


def _repository(name: str, source: Source, hub: str, folder: Path) -> str | None:
    """Write those files of a repository that are wanted."""
    prefix = f"{name}: {hub}"
    try:
        from huggingface_hub import HfApi, constants, errors
        from huggingface_hub.utils.tqdm import disable_progress_bars
    except ModuleNotFoundError as error:
        raise SourceError(
            f"{prefix}: needs {error.name}, which is not installed: pip install 'llm-loadgen[hf]'; "
            f"or {_instead(source)}"
        ) from error
    if not sys.stderr.isatty():
        disable_progress_bars()
    api = HfApi(endpoint=constants.ENDPOINT)
    try:
        about = api.dataset_info(hub, revision=source.revision, timeout=_PATIENCE_S)
        names = [file.rfilename for file in about.siblings or ()]
        wanted = [
            filename for filename in names if any(fnmatch(filename, pattern) for pattern in source.repository)
        ]
        for filename in wanted:
            api.hf_hub_download(hub, filename, repo_type="dataset", revision=about.sha, local_dir=folder)
        shutil.rmtree(folder / ".cache", ignore_errors=True)  # the notes of the hub's client
    except errors.RepositoryNotFoundError as error:
        raise SourceError(
            f"{prefix}: the dataset does not exist on the hub, or is not public; accept its terms "
            f"on its page and log in with `hf auth login`, or {_instead(source)}"
        ) from error
    except Exception as error:
        if isinstance(error, ConnectionError) or type(error).__name__ in _UNREACHABLE:
            raise SourceError(
                f"{prefix}: the hub of Hugging Face cannot be reached; where there is a network, "
                f"{_instead(source)}"
            ) from error
        raise SourceError(f"{prefix}: cannot be fetched ({_one_line(error)}); {_instead(source)}") from error
    if not wanted:
        raise SourceError(f"{prefix}: no {' or '.join(source.repository)} in it; {_instead(source)}")
    sha: str | None = about.sha
    return sha


def _download(name: str, source: Source, url: str, folder: Path) -> None:
    """Write a file, named by the last part of the URL."""
    from urllib.error import HTTPError
    from urllib.request import urlopen

    try:
        with (
            urlopen(url, timeout=_PATIENCE_S) as answer,  # noqa: S310 (addresses of our own catalog)
            (folder / Path(urlsplit(url).path).name).open("wb") as file,
        ):
            shutil.copyfileobj(answer, file)
    except OSError as error:
        if isinstance(error, HTTPError):
            error.close()
        raise SourceError(
            f"{name}: {url} cannot be fetched ({_one_line(error)}); {_instead(source)}"
        ) from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:_LONGEST] or type(error).__name__


VARIABLE: Final = "LOADGEN_CACHE"
"""The environment variable that names the cache."""

_MANIFEST: Final = ".manifest.json"


@dataclass(frozen=True, slots=True)
class CachedFiles:
    """A folder of files that were fetched."""

    folder: Path
    files: Mapping[str, str]  #: the SHA-256 of each in hexadecimal, by its path in the folder; at least one
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
