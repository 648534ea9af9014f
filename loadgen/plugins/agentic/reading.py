"""Reading an input of recorded sessions: the format is found by content, or named."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from loadgen.plugins.agentic.readers.documents import documents
from loadgen.plugins.agentic.readers.trace_format import ReadingOptions
from loadgen.plugins.agentic.stored_corpora import read_once
from workloads.errors import TraceError
from workloads.registry import entries, load
from workloads.traces.form import TraceForm

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.plugins.agentic.session_corpus import SessionCorpus
    from loadgen.plugins.agentic.session_tree import History


def session_format(path: Path, form: TraceForm = TraceForm()) -> str | None:  # noqa: B008 (a frozen value)
    """The name of the format of an input of recorded sessions; None for another input.

    Args:
        path: A file, or a folder of files.
        form: What is known of the format.

    Raises:
        SourceError, MalformedError: The input cannot be read.
    """
    formats = entries("traces")
    if form.format is not None:
        return form.format if form.format in formats else None
    try:
        first = next(islice(documents(path), 1), None)
    except TraceError:
        return None
    if first is None:
        return None
    return next((name for name, entry in formats.items() if load(entry).is_first(first.members)), None)


def read_sessions(
    path: Path,
    form: TraceForm = TraceForm(),  # noqa: B008 (a frozen value)
    history: History | None = None,
) -> SessionCorpus:
    """Read the sessions of an input.

    What is plain is taken; what is not is left out and counted in `facts.left_out`.

    Args:
        path: A file, or a folder of files.
        form: What is known of the format; the rest is found out.
        history: What the rows hold of the history of their session, if the user says so.

    Raises:
        SourceError, MalformedError: The input cannot be read.
        TraceError: The format is unknown, the history is not declared, or nothing can be replayed.
    """
    name = session_format(path, form)
    if name is None:
        raise TraceError(
            f"{path}: not an input of recorded sessions; known formats are {', '.join(entries('traces'))}: "
            "name one with --trace-format"
        )
    options, reader = ReadingOptions(name, form, history), load(entries("traces")[name])
    corpus = read_once(path, options, lambda: reader.read(path, options))
    if not len(corpus):
        reasons = "; ".join(corpus.facts.left_out.rows)
        raise TraceError(f"{path}: the input has no session that can be replayed ({reasons or 'empty'})")
    return corpus
