"""A page as a value: a header and sections, which the templates write as HTML.

Pages of runs, comparisons and series differ in their sections only. All texts may come from a server or a
user: the templates escape them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar, Final

from lazy_dataclasses import dataclass, field
from reporter.render.html.curve_values import LoadCurves
from reporter.render.table import kinds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.contents.texts import Excerpt
    from reporter.plots.marks import RunPhase, TargetLine
    from reporter.plots.plot_value import NoPlot, Plot
    from reporter.render.html.lane_figures import LaneFigures
    from reporter.render.table import Cell, Column, Link, Mark, Table, Tone


@dataclass(frozen=True, slots=True)
class CardFigure:
    """A figure of a card.

    Attributes:
        name: Such as `p99`; empty where the card's label says it.
        interval: The confidence interval as text; empty if unknown.
        bound: The target with a mark, such as `✗ < 500 ms`; empty without one.
    """

    value: str
    unit: str = ""
    name: str = ""
    interval: str = ""
    tone: Tone = ""
    bound: str = ""


@dataclass(frozen=True, slots=True)
class FigureCard:
    """Figures of a subject at the top of the page."""

    label: str
    figures: tuple[CardFigure, ...]
    more: tuple[Cell, ...] = ()
    sql: str = ""


@dataclass(frozen=True, slots=True)
class FigureCards:
    """The page's opening figures, and the queries of the lines above."""

    template: ClassVar = "figures"
    anchor: str
    title: str
    cards: tuple[FigureCard, ...]
    note: str = ""
    above: tuple[tuple[str, str], ...] = ()

    @property
    def queries(self) -> tuple[tuple[str, str], ...]:
        """Each query once, after the labels of the query's cards."""
        labels: dict[str, list[str]] = {}
        for card in self.cards:
            if card.sql:
                labels.setdefault(card.sql, []).append(card.label)
        return (*((", ".join(named), query) for query, named in labels.items()), *self.above)


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that a reader of the figures should know: a finding, or why a rule was not met.

    Attributes:
        queries: The queries of its figures, each with a label.
    """

    mark: Mark
    message: str
    remedy: str = ""
    queries: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Remarks:
    """Findings, the most severe first."""

    template: ClassVar = "remarks"
    anchor: str
    title: str
    remarks: tuple[Remark, ...]
    nothing: str = ""


@dataclass(frozen=True, slots=True)
class Tables:
    """One or several tables."""

    template: ClassVar = "tables"
    anchor: str
    title: str
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlotGroup:
    """Plots under one heading; several plots of one subject are shown one at a time.

    Attributes:
        choices: The labels of the buttons that choose among several plots.
    """

    title: str
    plots: tuple[Plot, ...]
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plots:
    """Plots.

    Attributes:
        parts: By tag and by the name of a plot, the plot with a series per value of the tag.
        absent: Those that the run has no data for.
        lines: By the name of a plot, the targets that are lines in it.
        phases: The phases of a run, which every plot over time marks.
    """

    template: ClassVar = "plots"
    anchor: str
    title: str
    groups: tuple[PlotGroup, ...]
    parts: Mapping[str, Mapping[str, Plot]]
    absent: tuple[NoPlot, ...] = ()
    note: str = ""
    lines: Mapping[str, tuple[TargetLine, ...]] = field(default_factory=dict)
    phases: tuple[RunPhase, ...] = ()


ROW: Final = 20
"""The height of a lane, in units of the drawing."""
_THIN: Final = 4
_HIGH: Final = 640


@dataclass(frozen=True, slots=True)
class SwimLane:
    """Requests over time: of a session, which opens, or of a run.

    Attributes:
        mark: How a session ended; None for the requests of a run.
        names: One a row; empty where rows have none.
        from_ms: Where the drawing begins.
        ms: The time that the drawing is wide.
        paths: The lines, by the class of the style sheet; without any the script draws them.
        figures: Those of requests, for the script.
        table: A row an agent.
    """

    mark: Mark | None
    title: str
    facts: str
    names: tuple[str, ...]
    from_ms: float
    ms: float
    rows: int
    paths: tuple[tuple[str, str], ...]
    figures: LaneFigures
    table: Table | None

    @property
    def height(self) -> int:
        """The height of the drawing, in px: many rows are thin."""
        return self.rows * max(_THIN, min(ROW, _HIGH // self.rows))


@dataclass(frozen=True, slots=True)
class SessionLanes:
    """Sessions as folds, or requests over time, and the meanings of the kinds of lines."""

    template: ClassVar = "lanes"
    anchor: str
    title: str
    sessions: tuple[SwimLane, ...]
    kinds: tuple[tuple[str, str], ...]
    note: str = ""
    sql: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """A text of a server or a user, with a name."""

    label: str
    text: Excerpt


@dataclass(frozen=True, slots=True)
class ResponseTimeline:
    """When the parts of a response arrived.

    Attributes:
        waited_ms: From the schedule, or the issue, to the first byte sent.
        first_ms: From there to the first token; None without one.
        chunks_ms: To each chunk with a token, at most some hundred of them.
        upload_ms: The part of the time to the first token in which the request was sent; None if unknown.
    """

    waited_ms: float
    first_ms: float | None
    ends_ms: float | None
    chunks_ms: tuple[float, ...]
    chunks: int
    upload_ms: float | None = None


@dataclass(frozen=True, slots=True)
class RequestRow:
    """An expandable row for one request, with details.

    Attributes:
        sample_uuid: The id that a drawing leads here by.
    """

    sample_uuid: str
    cells: tuple[Cell, ...]
    timeline: ResponseTimeline
    quotes: tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class Requests:
    """A table of expandable requests."""

    template: ClassVar = "requests"
    anchor: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[RequestRow, ...]
    note: str = ""
    sql: str = ""

    @property
    def kinds(self) -> list[str]:
        """The kind of each column, as for a table."""
        return kinds(self.columns, (row.cells for row in self.rows))


@dataclass(frozen=True, slots=True)
class RequestLife:
    """One request as a bar and as a table of moments."""

    template: ClassVar = "life"
    anchor: str
    title: str
    timeline: ResponseTimeline
    moments: Table


@dataclass(frozen=True, slots=True)
class QuotedTexts:
    """Texts of one request, as quotes."""

    template: ClassVar = "texts"
    anchor: str
    title: str
    quotes: tuple[Quote, ...]
    sql: str = ""


@dataclass(frozen=True, slots=True)
class OpenedSample:
    """A scored answer that opens.

    Attributes:
        question: The benchmark's name of the question.
        asked: The beginning of the question.
        tags: Such as the subject, by name.
        row_texts: Labels and texts of the closed row: what the grader took for the answer, the reference.
        quotes: Question, answer, reference, reason, and what a judge said.
        sides: By the name of a run, the texts that are shown next to those of another run.
    """

    task: str
    status: Mark
    question: str
    asked: str
    tags: Mapping[str, str]
    row_texts: Mapping[str, str]
    quotes: tuple[Quote, ...]
    sides: Mapping[str, tuple[Quote, ...]] = field(default_factory=dict)


MOST_VALUES: Final = 100
"""The most values of a tag that filters samples."""


@dataclass(frozen=True, slots=True)
class Samples:
    """Scored answers to browse."""

    template: ClassVar = "samples"
    anchor: str
    title: str
    samples: tuple[OpenedSample, ...]
    note: str = ""
    sql: str = ""

    @property
    def tasks(self) -> tuple[str, ...]:
        """The benchmarks, each once."""
        return tuple(dict.fromkeys(sample.task for sample in self.samples))

    @property
    def statuses(self) -> Mapping[str, int]:
        """The outcomes, each with the number of samples."""
        return Counter(sample.status.text for sample in self.samples)

    @property
    def tags(self) -> Mapping[str, Mapping[str, int]]:
        """The tags that tell samples apart: by tag, the number of samples by value."""
        counts: dict[str, Counter[str]] = {}
        for sample in self.samples:
            for name, value in sample.tags.items():
                counts.setdefault(name, Counter())[value] += 1
        return {
            name: dict(sorted(values.items()))
            for name, values in counts.items()
            if 1 < len(values) <= MOST_VALUES
        }


@dataclass(frozen=True, slots=True)
class Prose:
    """Paragraphs of text, or lines, with the labeled queries of the figures."""

    template: ClassVar = "prose"
    anchor: str
    title: str
    paragraphs: tuple[str, ...]
    queries: tuple[tuple[str, str], ...] = ()


Section = (
    LoadCurves
    | FigureCards
    | Remarks
    | Tables
    | Plots
    | Requests
    | RequestLife
    | QuotedTexts
    | Samples
    | SessionLanes
    | Prose
)


@dataclass(frozen=True, slots=True)
class Page:
    """A page.

    Attributes:
        marks: The result, the most important mark first.
        sections: The sections, in order; the caller leaves out empty ones.
        footer: Where the figures are from, and how to make the page again.
        variables: SQL in front of every query of the page.
        answer: The one reason for the result; empty where the marks say all.
        command: The command that repeats the run; empty if unknown.
        folded: The anchors of sections that a click opens.
        trail: The pages above this one.
        requests_at: The address of a request's page without the id, its end; empty without such pages.
    """

    title: str
    marks: tuple[Mark, ...]
    lines: tuple[str, ...]
    sections: tuple[Section, ...]
    footer: tuple[str, ...] = ()
    variables: str = ""
    answer: str = ""
    command: str = ""
    folded: frozenset[str] = frozenset()
    trail: tuple[Link, ...] = ()
    requests_at: str = ""
