"""File names in a suite, made absolute from the folder of the source."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.gating.reference import placed as ruleset_placed
from loadgen.sessions.run.benchmark_questions import placed_task
from loadgen.sessions.series.suite.option import options

if TYPE_CHECKING:
    from collections.abc import Mapping

_HISTOGRAM: Final = "histogram:"
_HUB: Final = "hf:"


def placed(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The options, with paths relative to a folder made absolute.

    Args:
        values: The options.
        folder: The folder that relative paths start from: that of the suite's file, or the current one.
    """
    return {name: _placed(name, value, folder.absolute()) for name, value in values.items()}


def _placed(name: str, value: Any, folder: Path) -> Any:
    if isinstance(value, Path):
        return folder / value.expanduser()
    if name == "task":
        return [placed_task(task, folder) for task in value]
    option = options().get(name)
    if option is None or not isinstance(value, str):
        return value
    return _placed_text(value, str(option.declared.metavar), folder)


def _placed_text(value: str, metavar: str, folder: Path) -> str:
    """The value of a text, by the kind of the option's value."""
    if metavar.endswith("NAME|FILE"):
        return ruleset_placed(value, folder)
    if metavar.startswith("FILE") and not value.startswith(_HUB):
        return str(folder / Path(value).expanduser())
    if metavar.endswith("FOLDER") and (folder / value).exists():
        return str(folder / value)
    if metavar == "DISTRIBUTION" and value.startswith(_HISTOGRAM):
        return _HISTOGRAM + str(folder / Path(value.removeprefix(_HISTOGRAM)).expanduser())
    return value
