"""A benchmark in the user's notation: `mmlu_pro`, `mmlu_pro:shots=0,prompt=api`, or a file of own data."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, replace
from workloads.catalog import workload
from workloads.errors import TaskError, did_you_mean
from workloads.own_data import is_own
from workloads.own_data import workload as own_data

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.workload import Source, Workload

NO_COLUMNS: Final[Mapping[str, str]] = MappingProxyType({})
"""Those that are called as they should be."""

SUBSET: Final = "subset"
"""The option that chooses one of `Workload.subsets`."""

MAX_TOKENS: Final = "max_tokens"
"""The option of every benchmark that takes the place of the benchmark's limit of output tokens."""

_BOOLEANS: Final[Mapping[str, bool]] = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True, slots=True)
class Task:
    """A benchmark with options.

    Attributes:
        text: As the user wrote it.
        workload: The benchmark.
        options: Every option of it, as given or by default.
        split: The split whose questions are asked; None for the benchmark's own.
    """

    text: str
    workload: Workload
    options: Mapping[str, Any]
    split: str | None = None

    @property
    def max_tokens(self) -> int | None:
        """The most output tokens of each answer, from the option; None leaves the benchmark's limits."""
        limit: int | None = self.options.get(MAX_TOKENS)
        return limit

    @property
    def source(self) -> Source:
        """The rows of the benchmark, or of the requested subset or split; or raise `TaskError`."""
        own = self.workload.subsets.get(self.options.get(SUBSET, ""), self.workload.source)
        return own if self.split in {None, own.split} else _of_split(self.text, own, self.split or "")


def _of_split(text: str, own: Source, split: str) -> Source:
    """The source of another split: on the hub by name, in a folder by file names."""
    if own.split is None or own.hub is None or own.repository:
        raise TaskError(f"{text}: --split {split}: its data has no splits; leave it out")
    named = [pattern for pattern in own.files if pattern.startswith(own.split)]
    files = [f"{split}{pattern.removeprefix(own.split)}" for pattern in named]
    return replace(
        own, split=split, rows=None, files=tuple(files) or (f"{split}*.parquet", f"{split}*.jsonl*")
    )


def parse(text: str, columns: Mapping[str, str] = NO_COLUMNS, tags: Sequence[str] = ()) -> Task:
    """Read a task. Of a file of own data only the name is read here.

    Args:
        text: What the user wrote.
        columns: Of own data, the columns by what they hold: see `workloads.own_data`.
        tags: Of own data, the columns that scores are grouped by.

    Raises:
        TaskError: The benchmark, its option or the option's value does not exist, or own data has no column
            of that kind.
    """
    if is_own(text):
        own = own_data(text, columns, tags)
        return Task(text, own, own.options)
    name, _, options_text = text.partition(":")
    task = workload(name)
    options = dict(task.options)
    for part in filter(None, options_text.split(",")):
        key, equals, value = part.partition("=")
        if equals and key == MAX_TOKENS:
            options[key] = _limit(text, value)
            continue
        if not equals or key not in options:
            named = [f"{name}={default}" for name, default in task.options.items()]
            there = ", ".join([*named, f"{MAX_TOKENS}={task.max_tokens or 'TOKENS'}"])
            raise TaskError(
                f"{text}: no option {part!r}{did_you_mean(key, options)}; the options of {name} are: {there}"
            )
        options[key] = _read(text, key, value, options[key])
    subsets = task.subsets
    if subsets and options[SUBSET] not in subsets:
        raise TaskError(
            f"{text}: no subset {options[SUBSET]!r}{did_you_mean(options[SUBSET], subsets)}; "
            f"the subsets of {name} are: {', '.join(subsets)}"
        )
    return Task(text, task, options)


def _limit(text: str, value: str) -> int:
    if not value.isdecimal() or not 1 <= int(value[:10]) < 2**31:
        raise TaskError(f"{text}: {MAX_TOKENS}={value}: must be a whole number of tokens, at least 1")
    return int(value)


def _read(text: str, key: str, value: str, default: Any) -> Any:
    """A value of the type that the default has."""
    try:
        if isinstance(default, bool):
            return _BOOLEANS[value.lower()]
        return type(default)(value)
    except (KeyError, ValueError) as error:
        wanted = "true or false" if isinstance(default, bool) else f"like {default!r}"
        raise TaskError(f"{text}: {key}={value}: must be {wanted}") from error
