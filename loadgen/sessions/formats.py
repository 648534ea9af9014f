"""The table of formats: the formats of reports, verdicts and comparisons.

A format is a function of each subject, and one row here. Other packages add formats by entry points
(docs/adding-a-report-format.md).
"""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import dataclass
from loadgen.sessions.errors import UsageError
from workloads.errors import did_you_mean
from workloads.registry import Entry, added, at, load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


Subject = Literal["report", "verdict", "comparison", "series", "series_comparison"]
"""What is rendered: a `Report`, a sequence of `NamedVerdict`, a `Comparison`, a `SeriesOverview`, or a
`SeriesComparison`."""

TEXT: Final = "text"
JSON: Final = "json"
_RENDER: Final = "reporter.render"


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A row of the table: the function that makes a text of each subject, `render` by default.

    Attributes:
        title: What it is, for lists and the docs.
        report: Renders a `Report`; empty where the format has no reports, as are the next four.
        verdict: Renders a sequence of `NamedVerdict`.
        comparison: Renders a `Comparison`.
        series: Renders a `SeriesOverview`; as text and JSON, `loadgen report` writes the files of the series.
        series_comparison: Renders a `SeriesComparison`.
        is_quoted: Whether lines that a CI system would take for commands are made harmless on its output.
        shows_log: Whether a report in it shows more of the log than the report has, as its option `contents`.
        shows_plots: Whether a comparison in it has plots, as its option `plots`.
    """

    title: str
    report: str = ""
    verdict: str = ""
    comparison: str = ""
    series: str = ""
    series_comparison: str = ""
    is_quoted: bool = True
    shows_log: bool = False
    shows_plots: bool = False


FORMATS: Final[Mapping[str, Format]] = {
    "text": Format(
        title="tables for a terminal",
        report=f"{_RENDER}.console",
        verdict=f"{_RENDER}.verdict_table",
        comparison=f"{_RENDER}.comparison_tables",
        series_comparison=f"{_RENDER}.compared_points",
    ),
    "json": Format(
        title="JSON, every figure",
        report=f"{_RENDER}.json",
        verdict=f"{_RENDER}.verdict_json",
        comparison=f"{_RENDER}.comparison_files:render_json",
        series_comparison=f"{_RENDER}.comparison_files:render_json",
        is_quoted=False,
    ),
    "html": Format(
        title="one HTML page, with plots",
        report=f"{_RENDER}.html.run_page",
        series=f"{_RENDER}.html.series_page",
        comparison=f"{_RENDER}.html.comparison_page",
        series_comparison=f"{_RENDER}.html.comparison_page:render_series",
        is_quoted=False,
        shows_log=True,
        shows_plots=True,
    ),
    "md": Format(
        title="Markdown, for the summary of a CI job",
        report=f"{_RENDER}.report_markdown",
        verdict=f"{_RENDER}.markdown",
        comparison=f"{_RENDER}.comparison_files:render_markdown",
        series_comparison=f"{_RENDER}.compared_points:render_markdown",
        series=f"{_RENDER}.series_overview:render_markdown",
        shows_log=True,
    ),
    "junit": Format(title="JUnit XML, a test case for each rule", verdict=f"{_RENDER}.junit"),
    "github": Format(
        title="annotations of GitHub Actions", verdict=f"{_RENDER}.annotations", is_quoted=False
    ),
    "csv": Format(
        title="a table for spreadsheets",
        report=f"{_RENDER}.report_csv",
        comparison=f"{_RENDER}.comparison_files:render_csv",
        series_comparison=f"{_RENDER}.compared_points:render_csv",
        series=f"{_RENDER}.series_overview:render_csv",
    ),
    "svg": Format(
        title="a plot; needs the extra `plot`", comparison=f"{_RENDER}.comparison_figure:render_svg"
    ),
}
"""The formats, in the order in which they are shown."""

_OTHER_NAMES: Final[Mapping[str, str]] = {"markdown": "md"}
"""Names that are taken for those of the table."""


_KINDS: Final[Mapping[str, str]] = {
    "report": "reports",
    "verdict": "verdicts",
    "comparison": "comparisons",
}
"""The kinds of plug-ins that add formats, by the subject."""


def format_facts(name: str) -> Format:
    """The row of a format; of another package's format, a row with the defaults."""
    return FORMATS.get(name) or Format(title="")


def format_called(name: str) -> str:
    """The name in the table of a format that may be given by another name."""
    return _OTHER_NAMES.get(name, name)


def formats_of(subject: Subject) -> list[str]:
    """The names of the formats that a subject has: those of this program, then those of other packages."""
    return [*own_formats_of(subject), *_added(subject)]


def own_formats_of(subject: Subject) -> list[str]:
    """The names of the formats of this program that a subject has."""
    return [name for name, entry in FORMATS.items() if getattr(entry, subject)]


def _added(subject: Subject) -> Mapping[str, Entry]:
    return added(_KINDS[subject]) if subject in _KINDS else {}


def require_format(subject: Subject, name: str) -> None:
    """Make sure that a subject has a format."""
    if format_called(name) in own_formats_of(subject):
        return
    names = formats_of(subject)
    if name not in names:
        raise UsageError(
            f"--format {name}: not a format of a {subject}{did_you_mean(name, names)}; "
            f"choose from {', '.join(names)}"
        )


def render(subject: Subject, name: str, value: Any, **options: Any) -> str:
    """Render a value in a format.

    Raises:
        UsageError: The subject has no such format.
        PluginError: The format is another package's, and cannot be used.
    """
    require_format(subject, name)
    function = _function(subject, format_called(name))
    taken = signature(function).parameters
    return function(value, **{option: options[option] for option in options.keys() & taken.keys()})


def _function(subject: Subject, name: str) -> Callable[..., str]:
    if name in FORMATS:
        place = getattr(FORMATS[name], subject)
        value = at(place if ":" in place else f"{place}:render")
    else:
        value = load(_added(subject)[name])
    function: Callable[..., str] = value
    return function
