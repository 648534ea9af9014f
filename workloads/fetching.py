"""Published data of benchmarks, stored in the user's cache.

Of the hub of Hugging Face either the rows of a split (`workloads.hugging_face`), or files of the repository
as they are; else files of other publishers by their addresses. What is kept is used without asking the
publisher again, so that a benchmark without a pinned revision stays with the one that was fetched first.
"""

from __future__ import annotations

import re
import shutil
import sys
from fnmatch import fnmatch
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from workloads.cache import folder_of, keep, stored
from workloads.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workloads.cache import CachedFiles
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
    from huggingface_hub import HfApi, constants, errors
    from huggingface_hub.utils.tqdm import disable_progress_bars

    if not sys.stderr.isatty():
        disable_progress_bars()
    api, prefix = HfApi(endpoint=constants.ENDPOINT), f"{name}: {hub}"
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
    from urllib.request import urlopen

    try:
        with (
            urlopen(url, timeout=_PATIENCE_S) as answer,  # noqa: S310 (addresses of our own catalog)
            (folder / Path(urlsplit(url).path).name).open("wb") as file,
        ):
            shutil.copyfileobj(answer, file)
    except OSError as error:
        raise SourceError(
            f"{name}: {url} cannot be fetched ({_one_line(error)}); {_instead(source)}"
        ) from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:_LONGEST] or type(error).__name__
