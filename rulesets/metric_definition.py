"""The columns of the metric table in `rulesets.metric_table`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rulesets.quantity import Quantity

Per = Literal["request", "gap", "run"]
Origin = Literal["scheduled", "issued", "sent"]
Need = Literal["stream", "tokens", "gpus", "connections"]
ValueEnd = Literal["low", "high"]
Overhead = Literal["ttft", "latency", "rate"]
Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleRow:
    """How the latency table of the console shows a metric.

    Attributes:
        group: `server`, what the server is measured by; `held`, how long requests waited for a place;
            `client`, what the client itself took, which `--verbose` adds; `speed`, tokens per second, which
            `--verbose` shows in a table of its own.
        twin: The metric of an earlier row whose figures are nearly the same in many runs: with all of them
            within 1 %, this row is left out.
        always: Whether it is shown even then.
        open_loop: Whether it is for open loops alone, where requests may wait to be sent.
        detail: Whether only `--verbose` shows it.
        headline: Whether it is also in what shows few metrics: the summary, findings.
    """

    group: Literal["server", "held", "client", "speed"] = "server"
    twin: str = ""
    always: bool = False
    open_loop: bool = False
    detail: bool = False
    headline: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricDefinition:
    """A metric.

    Attributes:
        name: What rules and `--metric` call it: `ttft`.
        quantity: Its kind, statistics, units and operators.
        meaning: What it is, in a phrase.
        definition: How it is computed from the moments of a request (docs/metrics.md); empty of a run's.
        use: What it tells, for the same page.
        per: What has a value: a request (a column of the view `samples`), a gap between chunks, or the run.
        in_rules: Whether a rule, and `--metric` of a comparison, can name it.
        origin: The moment of a request that it counts from; None where that is a moment of the response, or
            there is none. The definition `latency_origin` takes the place of `issued` and `sent`.
        needs: What a run must have for it to have values.
        depends_on: The definitions (`rulesets.definitions`) that change it, in addition to those of its kind.
        ends: The ends of its values that `samples` has for stamps in doubt; where one is missing, the value
            is that end.
        while_running: Whether a request's own events determine it: `--abort-on-fail` can end a run for it.
        overhead: The figure whose client overhead it shares; None where it has none.
        label: What tables of people call it; empty where none shows it.
        console: Where the console shows it; None where it does not. A speed is in the group `speed`, a time
            in another; lengths cannot be there.
        in_parts: Whether the parts of a run have it as well.
        in_samples: Whether the results per sample have it as well; those that are in parts always do.
        compared: The statistics that a comparison shows, in addition to the figures that decide.
        compared_briefly: Those of them that the console shows without `--verbose`.
    """

    name: str
    quantity: Quantity
    meaning: str
    definition: str = ""
    use: str = ""
    per: Per = "request"
    in_rules: bool = True
    origin: Origin | None = None
    needs: tuple[Need, ...] = ()
    depends_on: tuple[str, ...] = ()
    ends: tuple[ValueEnd, ...] = ()
    while_running: bool = False
    overhead: Overhead | None = None
    label: str = ""
    console: ConsoleRow | None = None
    in_parts: bool = False
    in_samples: bool = False
    compared: tuple[str, ...] = ()
    compared_briefly: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """The unit of the figures; empty for shares and counts."""
        units = {"latency": "ms", "length": "tokens", "speed": "tok/s"}
        return units.get(self.quantity.kind, self.quantity.scale.default or "")

    @property
    def column(self) -> str:
        """The key of the metric's summary in a report, and the column of `samples`."""
        return f"{self.name}_ms" if self.unit == "ms" else self.name

    def end_column(self, end: ValueEnd) -> str:
        """The column of `samples` with one end of the values; `column` where the values are that end."""
        if end not in self.ends:
            return self.column
        return f"{self.name}_{end}_ms" if self.unit == "ms" else f"{self.name}_{end}"

    @property
    def better(self) -> Better:
        """The better direction of the metric, which rules leave unbounded."""
        below, above = "<" in self.quantity.ops, ">" in self.quantity.ops
        if below and above:
            return "neither"
        return "lower" if below else "higher"
