"""A search on the console: what was tried, and what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.errors import printable

if TYPE_CHECKING:
    from cli.searching.result import Found
    from cli.searching.trials import Judged


def table(found: Found) -> str:
    """Every trial in a line, and the result in a sentence."""
    lines = [f"{found.axis:>12}  {'trial':<7}  {'seconds':>7}  {'requests':>8}  {'req/s':>8}  verdict"]
    lines += [_line(one) for one in found.judged]
    result = [f"\n{found.axis}: {found.load:g}"] if found.load is not None else [""]
    return "\n".join([*lines, *result, printable(found.message)]) + "\n"


def _line(one: Judged) -> str:
    report, trial = one.outcome.report, one.tried.trial
    kind = "full" if trial.thorough else "scout"
    seconds, qps = report.window.duration_s or 0.0, report.throughput.qps or 0.0
    why = f" ({printable(one.why)})" if one.why else ""
    return (
        f"{trial.load:>12g}  {kind:<7}  {seconds:>7.1f}  {report.counts.issued:>8,}  {qps:>8.2f}  "
        f"{one.tried.verdict}{why}"
    )
