"""`loadgen inline-score`: the inline score of MLPerf's agentic inference, of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import orjson

from loadgen.plugins.agentic.readers.documents import documents
from loadgen.plugins.mlperf.inline_score import InlineScore, inline_score
from loadgen.sessions.errors import UsageError, printable
from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.option import Option
from loadgen.sessions.settings.run_argument import Run
from reporter.log.query import query
from reporter.log.settings import settings as settings_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FILE: Final = "inline_score.json"

_ISSUED: Final = """
SELECT session_id, turn, status, outputs.output, outputs.reasoning, outputs.tool_calls
FROM session_turns LEFT JOIN outputs USING (sample_uuid)
WHERE measured
ORDER BY ALL
"""


def inline_score_of(
    run: Run,
    *,
    trace: Annotated[
        Path | None, Option(help="The rows with the recorded answers. Default: the --trace of the run.")
    ] = None,
    out: Annotated[
        Path | None, Option(help=f"The file of the score. Default: {FILE} in the run's folder.")
    ] = None,
    json: Json = False,
) -> None:
    """Score the answers of a run of MLPerf's agentic rows against the recorded ones (docs/mlperf.md).

    The file is one for --accuracy of [bold]loadgen gate[/bold] and [bold]loadgen export[/bold].

    [bold]Example[/bold]

    loadgen inline-score RUN

    loadgen gate RUN --ruleset mlperf-agentic-like --accuracy RUN/inline_score.json
    """
    score = inline_score(dict(_recorded(_trace_of(run, trace))), _issued(run))
    if score.percent is None:
        raise UsageError(
            f"{run}: no turn of the run has recorded intent codes or bash calls: name --trace FILE"
        )
    target = run / FILE if out is None else out
    content = {"accuracy": {"inline": {"value": score.percent, "n": score.turns}}}
    target.write_bytes(orjson.dumps(content))
    print(_text(score, target) if not json else orjson.dumps(score._asdict()).decode())


def _text(score: InlineScore, target: Path) -> str:
    missing = f", {score.missing} of them without an answer" if score.missing else ""
    return f"inline score {score.percent:.2f} % of {score.turns:,} turns{missing}; {printable(str(target))}"


def _trace_of(run: Path, trace: Path | None) -> Path:
    if trace is not None:
        return trace
    named = (settings_of(run).get("options") or {}).get("trace")
    if not named:
        raise UsageError(f"{run}: the run replayed no trace: name --trace FILE")
    return Path(named)


def _recorded(trace: Path) -> Iterator[tuple[tuple[str, int], Mapping[str, Any]]]:
    """The rows of recorded answers, numbered as the turns that they answer."""
    turns: dict[str, int] = {}
    asks: dict[str, bool] = {}
    for document in documents(trace):
        row = document.members
        session, role = str(row.get("conversation_id")), row.get("role")
        if role != "assistant":
            asks[session] = True
        elif asks.pop(session, False):
            turns[session] = turns.get(session, -1) + 1
            yield (session, turns[session]), row


def _issued(run: Path) -> Iterator[tuple[str, int, Mapping[str, Any] | None]]:
    """The measured turns with their answers, as messages."""
    for session, turn, status, content, reasoning, calls in query(run, _ISSUED).rows:
        tool_calls = orjson.loads(calls) if isinstance(calls, str) else calls
        message = {"content": content, "reasoning_content": reasoning, "tool_calls": tool_calls}
        yield session, turn, message if status == "completed" else None
