"""Scores in benchmarks as tables: the figures of each task, and those of its parts."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from reporter.render.figures import NOTHING, figure, fixed, whole
from reporter.render.page import Column, block, clean, grid, sentence, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from reporter.report import Report

    Score = Mapping[str, Any]

MOST_FIGURES: Final = 10
"""Of a task; report.json has the others too."""

_COUNTS: Final = (
    ("unparsed", "unparsed", 2),
    ("missing", "missing", 3),
    ("unscored", "unscored", 0),
)
"""Key, title, and which goes first where the page is too narrow; left out where there are none of them."""

_UNSCORED: Final = "unscored"
_PLAIN: Final = "accuracy"
"""A first figure of this name is shown by its task alone."""
_ROUNDING: Final = 1e-9
_INDENT: Final = "  "


def section(report: Report, *, width: int, summary_only: bool = False) -> list[RenderableType]:
    """What a run scored; nothing where it asked no benchmark.

    Args:
        report: What to tell of.
        width: Columns of the page.
        summary_only: Of each task only its first figure, and no notes.
    """
    if not report.accuracy:
        return []
    lines = [line for score in report.accuracy for line in _lines(score, 1 if summary_only else MOST_FIGURES)]
    shown: list[RenderableType] = [_table("accuracy", lines, width)]
    if not summary_only and (told := [line for score in report.accuracy for line in _beside(score)]):
        shown.append(block("Scores", *told))
    return shown


def groups(report: Report, tag: str, *, width: int) -> list[RenderableType]:
    """The scores of the values of a tag, under a title each."""
    found: list[RenderableType] = []
    for score in report.accuracy:
        if parts := score["groups"].get(tag):
            title = Text(f"Accuracy by {clean(tag)}: {called(score)}", style="dim")
            lines = [(value, "share", "higher", {**part, "counts": part}) for value, part in parts.items()]
            found += [*([Text()] if found else []), title, _table(tag, lines, width)]
    return found


def called(score: Score) -> str:
    """A task, and its scorer where that is not the benchmark's own: `math500, math_verify`."""
    named = score["scorer"] is not None and not score["official"]
    return clean(f"{score['task']}, {score['scorer']}" if named else score["task"])


def titled(score: Score) -> str:
    """The same, shorter: of a file of questions its name without its folder."""
    title = called(score)
    return (
        f"{PurePath(score['task']).name}{title.removeprefix(score['task'])}"
        if "/" in score["task"]
        else title
    )


def value_in_words(value: float | None, unit: str) -> str:
    """A figure: a share in per cent, with two decimals."""
    if value is None:
        return NOTHING
    return f"{fixed(100 * value, 2)} %" if unit == "share" else figure(value, 4)


def interval_in_words(interval: Mapping[str, float] | None, unit: str) -> str:
    """Its ends: `75.12..79.04`; nothing where there is none."""
    if interval is None:
        return ""
    low, high = (interval[end] for end in ("low", "high"))
    if unit == "share":
        return f"{fixed(100 * low, 2)}..{fixed(100 * high, 2)}"
    return f"{figure(low, 4)}..{figure(high, 4)}"


Line = tuple[str, str, str, "Mapping[str, Any]"]
"""A row of a table: its label, the unit, which way is better, and the figures, with what counts it has."""


def _lines(score: Score, most: int) -> Iterator[Line]:
    """A task by its first figure, and the others beneath it."""
    (title, first), *others = score["headlines"].items()
    named = called(score) if title == _PLAIN else f"{called(score)}: {clean(title)}"
    yield named, first["unit"], first["better"], {**_bounded(score, first), "counts": score}
    # One of a part that nothing was asked of is not defined.
    known = [(name, told) for name, told in others if told["value"] is not None]
    for name, told in known[: most - 1]:
        yield f"{_INDENT}{clean(name)}", told["unit"], told["better"], _bounded(score, told)


def _bounded(score: Score, told: Mapping[str, Any]) -> Mapping[str, Any]:
    """A figure, with how many samples are not in it: none where it would be the same whatever they are."""
    return {**told, "unscored": 0 if told["value"] == told["best"] is not None else score["unscored"]}


def _table(title: str, lines: Sequence[Line], width: int) -> Table:
    counted = [told["counts"] for *_, told in lines if "counts" in told]
    kinds = [kind for kind in _COUNTS if any(counts.get(kind[0]) for counts in counted)]
    columns = [
        Column(clean(title), justify="left", folds=True),
        Column("score"),
        Column("95 % interval", 1),
        Column("samples"),
        *(Column(heading, rank) for _, heading, rank in kinds),
    ]
    rows = [
        [
            Text(label),
            _value(told, unit, better),
            Text(interval_in_words(told["interval"], unit)),
            *(Text(cell) for cell in _cells(told.get("counts"), ["issued", *(key for key, *_ in kinds)])),
        ]
        for label, unit, better, told in lines
    ]
    return grid(columns, rows, width=width)


def _cells(counts: Mapping[str, Any] | None, keys: Iterable[str]) -> Iterator[str]:
    for key in keys:
        yield "" if counts is None else whole(counts.get(key))


def _value(told: Mapping[str, Any], unit: str, better: str) -> Text:
    """A figure; a lower bound is said to be one."""
    if not told["unscored"]:
        return Text(value_in_words(told["value"], unit))
    if told["value"] is None:
        return Text(_UNSCORED, style="bold yellow")
    sign = ">= " if better == "higher" else ""
    return Text(f"{sign}{value_in_words(told['value'], unit)}", style="yellow")


def _beside(score: Score) -> Iterator[Text]:
    """What else there is to say of a task, each line after its name."""
    further = sum(told["value"] is not None for told in score["headlines"].values()) - MOST_FIGURES
    lines = [
        sentence(*_samples(score)),
        sentence(*_attempts(score)),
        *(text(note) for note in score["notes"]),
        Text(f"{further} further figures in report.json") if further > 0 else Text(),
    ]
    yield from (Text(": ", overflow="fold").join([text(called(score)), line]) for line in lines if line)


def _samples(score: Score) -> Iterator[str]:
    values = score["statistics"]
    if values is not None and not _is_binary(values):
        yield "values " + ", ".join(
            f"{name} {values[name]:.4g}" for name in ("mean", "median", "std", "min", "max")
        )
    if score["tokens_per_sample"] is not None:
        yield f"{figure(score['tokens_per_sample'], 4)} output tokens a sample"
    if score["refused"]:
        yield f"{value_in_words(score['refused'], 'share')} refused"


def _unit(score: Score) -> str:
    """The unit of the first figure."""
    unit: str = next(iter(score["headlines"].values()))["unit"]
    return unit


def _ranged(repeats: Mapping[str, Any], unit: str) -> str:
    """From the least to the greatest mean of a repeat, and their standard deviation."""
    low, high, std = (value_in_words(repeats[name], unit) for name in ("min", "max", "std"))
    return f"{low} to {high}, std {std}"


def _is_binary(values: Mapping[str, float]) -> bool:
    """Whether all values are 0 or 1, of which the score says everything: their variance is then p (1 - p)."""
    p, ends = values["mean"], {values["min"], values["max"]}
    return ends <= {0.0, 1.0} and abs(values["std"] ** 2 - p * (1 - p)) < _ROUNDING


def _attempts(score: Score) -> Iterator[str]:
    if not score["pass_at"]:
        return
    yield f"{score['repeats']} attempts at each of {whole(score['questions'])} questions"
    if repeats := score["over_repeats"]:
        yield f"mean of a repeat {_ranged(repeats, _unit(score))}"
    least = ">= " if score["unscored"] else ""
    for sign, key in (("@", "pass_at"), ("^", "pass_hat")):
        for k, share in score[key].items():
            if sign == "@" or k != "1":
                yield f"pass{sign}{k} {least}{value_in_words(share, 'share')}"
