"""Large inputs that were read before: a corpus is stored after the first pass, and read from then on."""

from __future__ import annotations

import os
import pickle
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from loadgen.plugins.agentic.readers.documents import files_of
from loadgen.sessions.files.run_folder import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.plugins.agentic.readers.trace_format import ReadingOptions
    from loadgen.plugins.agentic.session_corpus import SessionCorpus

LARGE: Final = 32 * 2**20
"""Bytes of an input from which on the corpus is stored: smaller inputs are read within a second."""

MOST_STORED: Final = 8
"""How many corpora stay stored, the latest."""


def read_once(path: Path, options: ReadingOptions, read: Callable[[], SessionCorpus]) -> SessionCorpus:
    """The corpus of an input, as stored if neither the files, the options nor the readers have changed.

    Files are compared by name, size and time of change. Corpora are stored in
    `$XDG_CACHE_HOME/loadgen/sessions`, by default `~/.cache/loadgen/sessions`.

    Args:
        path: The input.
        options: The options of the user.
        read: Reads the input.
    """
    if sum(file.stat().st_size for file in files_of(path)) < LARGE:
        return read()
    try:
        stored = _folder() / _key(path, options)
    except RuntimeError:
        # The user has no home.
        return read()
    with suppress(Exception):
        # Whatever is wrong with the stored corpus, the input is read again.
        corpus: SessionCorpus = pickle.loads(stored.read_bytes())  # noqa: S301 (this user's cache)
        os.utime(stored)
        return corpus
    corpus = read()
    with suppress(OSError):
        stored.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(stored, pickle.dumps(corpus, pickle.HIGHEST_PROTOCOL))
        for old in sorted(stored.parent.iterdir(), key=lambda file: -file.stat().st_mtime_ns)[MOST_STORED:]:
            old.unlink()
    return corpus


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "loadgen" / "sessions"


def _key(path: Path, options: ReadingOptions) -> str:
    files = [*Path(__file__).parent.rglob("*.py"), *files_of(path)]
    states = [(str(file), *_state(file)) for file in files]
    return sha256(repr((states, str(path), str(Path.cwd()), options)).encode()).hexdigest()


def _state(file: Path) -> tuple[int, int]:
    state = file.stat()
    return state.st_size, state.st_mtime_ns
