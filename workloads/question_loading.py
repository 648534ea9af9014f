"""The questions of a benchmark: found in a folder of data, or fetched, checked, and made of the rows."""

from __future__ import annotations

from hashlib import sha256
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from workloads.errors import SourceError, did_you_mean
from workloads.sources import MOST_BYTES, FileRow, plain, read_rows, read_stored
from workloads.workload import Inputs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from workloads.question import Question
    from workloads.task import Task
    from workloads.workload import Source

_OWN: Final = "own"

_MOST_BYTES: Final = 4 * MOST_BYTES
"""Benchmarks of long contexts, or with the tests of programs, have files of more than a gigabyte."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The questions of a task."""

    task: Task
    questions: Sequence[Question]  #: in the order of the rows; never empty
    #: What the log is to keep of the data, as JSON: the SHA-256 of the `files` that were read, by name; of
    #: its rows the `source` (`data`, `own`, `package`, or where they were fetched from), the `revision`, how
    #: many `rows` there are (null where not all were read) and how many are `published`; where questions were
    #: drawn, `drawn`: the `seed`, the tags (`groups`) in proportion to which, and `of` how many; `notes` on
    #: the data, a sentence each.
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _SourceFiles:
    """The files of a source."""

    source: str
    #: Where they are, by the names that the log keeps; in the order in which they are read.
    files: Mapping[str, Path]
    checksums: Mapping[str, str]
    revision: str | None = None


def load(
    task: Task,
    data: Path | None = None,
    *,
    offset: int = 0,
    count: int | None = None,
    seed: int | None = None,
    ids: Collection[str] = (),
) -> Loaded:
    """Load the questions of a task.

    Args:
        task: Which benchmark, and its options.
        data: A folder to look in; None fetches the data from where it is published.
        offset: How many questions to leave out at the beginning.
        count: How many to take then; None takes all.
        seed: Draws them from all groups of the benchmark (`drawn`), to be asked in the order of the rows;
            None takes the first ones.
        ids: The only questions to take, by the benchmark's names of them; empty takes all.

    Raises:
        SourceError: The data is not there, or cannot be fetched; the message says how to use a folder. Or two
            questions have one id, or none has one of `ids`.
        ColumnError, MalformedError: It is not what it should be, and where.
    """
    source, further = task.source, task.workload.further
    files_of_source = _find(task, source, data)
    files: dict[str, str] = {}
    facts: dict[str, Any] = {
        "files": files,
        "source": files_of_source.source,
        "revision": files_of_source.revision,
        "rows": None,
        "published": source.rows,
        "notes": list(_choices(task, ids)),
    }

    def rows() -> Iterator[FileRow]:
        read = 0
        for row in _rows(source, files_of_source, files):
            read += 1
            yield row
        facts["rows"] = read

    def more(name: str) -> Sequence[FileRow]:
        return list(_rows(further[name], _find(task, further[name], data), files))

    def paths(name: str) -> Sequence[Path]:
        return [path.absolute() for path in _find(task, further[name], data).files.values()]

    def made(notes: list[str]) -> Iterator[Question]:
        inputs = Inputs(rows(), more, task.options, data, notes, paths)
        asked = task.workload.questions(inputs)
        return islice((question for question in asked if not ids or question.id in ids), offset, None)

    if seed is None or count is None:
        questions = tuple(islice(made(facts["notes"]), count))
    else:
        # Gone through twice, so that never more questions are held than are asked.
        places, total = drawn(made(facts["notes"]), count, seed, task.workload.name, task.workload.groups)
        facts["drawn"] = {"seed": seed, "groups": list(task.workload.groups), "of": total}
        last = max(places, default=-1)
        questions = tuple(
            question for place, question in enumerate(islice(made([]), last + 1)) if place in places
        )
    if missing := set(ids).difference(question.id for question in questions):
        raise SourceError(f"{task.text}: no question has the id {', '.join(sorted(missing))}")
    if not questions:
        raise SourceError(
            f"{task.text}: no question is left from number {offset} on; give a smaller --offset"
        )
    _require_unique(task, questions)
    return Loaded(task, questions, facts)


def _choices(task: Task, ids: Collection[str]) -> Iterator[str]:
    """Notes on a selection of questions, for readers of the score."""
    official = task.workload.source.split
    if task.split not in {None, official}:
        yield f"of the split {task.split}, where the benchmark's is {official}"
    if ids:
        yield f"the questions with the ids {', '.join(ids)} (--record-ids)"


def _require_unique(task: Task, questions: Iterable[Question]) -> None:
    """Ids tell questions apart in the log."""
    seen: dict[str, int] = {}
    for number, question in enumerate(questions, 1):
        if question.id in seen:
            raise SourceError(
                f"{task.text}: two questions have the id {question.id!r}, number {seen[question.id]} and "
                f"{number} of those asked; give each its own"
            )
        seen[question.id] = number


def _rows(source: Source, source_files: _SourceFiles, files: dict[str, str]) -> Iterator[FileRow]:
    """The rows of a source, each with all required columns; records the checksums of the files."""
    most_bytes = MOST_BYTES if source_files.source == _OWN else _MOST_BYTES
    for name, path in source_files.files.items():
        stored = read_stored(path, most_bytes)
        files[name] = sha256(stored).hexdigest()
        if source_files.checksums.get(name, files[name]) != files[name]:
            raise SourceError(
                f"{path}: not what was fetched, for its checksum is another; delete the folder "
                f"{path.parent}, and it is fetched again"
            )
        if source.read is None:
            read = read_rows(path, stored, most_bytes, source.columns)
        else:
            read = source.read(path, plain(path, stored, most_bytes))
        for row in read:
            for column in source.columns:
                row[column]
            yield row


def _find(task: Task, source: Source, data: Path | None) -> _SourceFiles:
    """The files of a source: the user's, those in a folder of data, or the published ones."""
    if source.own is not None:
        path = Path(source.own)
        return _SourceFiles(_OWN, {path.name: path}, {})
    if source.packaged is not None and not is_in(task.workload.name, source, data):
        return _SourceFiles("package", {path.name: path for path in _matching(source, source.packaged)}, {})
    if data is not None:
        return _SourceFiles("data", _in_folder(task, source, data), {})
    from workloads.fetching import ROWS, fetched

    cached = fetched(task.text, source)
    listed = source.repository or source.urls
    paths = _matching(source, cached.folder, "**/") if listed else [cached.folder / ROWS]
    if not paths:
        raise SourceError(
            f"{task.text}: no {' or '.join(source.files)} among what was fetched: {cached.folder}"
        )
    files = {str(path.relative_to(cached.folder)): path for path in paths}
    return _SourceFiles(source.hub or "urls", files, cached.files, cached.revision)


def is_in(name: str, source: Source, data: Path | None) -> bool:
    """Whether a folder of data has the files of a source of the benchmark of a name."""
    return data is not None and any(_matching(source, folder) for folder in (data / name, data))


def _in_folder(task: Task, source: Source, data: Path) -> Mapping[str, Path]:
    """The files of a source in a folder of data."""
    if not data.is_dir():
        near = (
            did_you_mean(data.name, (entry.name for entry in data.parent.iterdir()))
            if data.parent.is_dir()
            else ""
        )
        raise SourceError(f"--data {data}: the folder does not exist{near}")
    for folder in (data / task.workload.name, data):
        if paths := _matching(source, folder):
            return {str(path.relative_to(data)): path for path in paths}
    wanted = " or ".join(source.files)
    raise SourceError(
        f"{task.text}: no file {wanted} in {data} or {data / task.workload.name}: put the data there"
    )


def _matching(source: Source, folder: Path, below: str = "") -> list[Path]:
    """The files in a folder, or below, that match the first successful glob."""
    for pattern in source.files:
        if paths := sorted(path for path in folder.glob(below + pattern) if path.is_file()):
            return paths
    return []


def drawn(
    questions: Iterable[Question], count: int, seed: int, name: str, groups: Sequence[str]
) -> tuple[set[int], int]:
    """Draw questions: each with equal chance, and from each group in proportion to the group's size.

    It is systematic sampling: the questions are sorted by group, shuffled within each, and every
    k-th is taken, from a random start. So of n drawn questions, a group that makes up a share p of all has
    n·p, rounded up or down. Only the seed, the name and the ids of the questions count, not their order.

    Returns:
        The places of the drawn questions, from 0; and how many questions there are.
    """
    places = [
        ([question.sample.tags.get(group, "") for group in groups], _key(seed, name, question.id), place)
        for place, question in enumerate(questions)
    ]
    places.sort()
    total, wanted = len(places), min(count, len(places))
    if not wanted:
        return set(), total
    start = Random(f"{seed}/{name}").randrange(total)  # noqa: S311 (no secret)
    return {places[(number * total + start) // wanted][2] for number in range(wanted)}, total


def _key(seed: int, name: str, identity: str) -> bytes:
    return sha256(f"{seed}/{name}/{identity}".encode("utf-8", "surrogatepass")).digest()
