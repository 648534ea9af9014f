"""The core of the program: its files in the order of a request's life, as docs/architecture.md lists them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tests import golden

if TYPE_CHECKING:
    from pathlib import Path

ROOT: Final = golden.ROOT
PAGE: Final = ROOT / "docs" / "architecture.md"
MOST_LINES: Final = 14_500

CORE: Final = {
    "From the command to the plan": (
        "loadgen/cli/perf.py",
        "loadgen/sessions/run_session.py",
        "loadgen/sessions/run/preparation.py",
        "loadgen/sessions/run/measurement.py",
        "loadgen/driver/plan.py",
        "loadgen/driver/load.py",
        "workloads/sample.py",
        "workloads/dataset.py",
    ),
    "Issuing": (
        "loadgen/driver/load_session.py",
        "loadgen/driver/phase.py",
        "loadgen/driver/issuing.py",
        "loadgen/driver/requests/request_source.py",
        "loadgen/driver/session_kind.py",
        "loadgen/driver/user_sessions/session_source.py",
        "loadgen/driver/user_sessions/single_turn.py",
        "loadgen/driver/user_sessions/conversation.py",
        "loadgen/driver/requests/session_turns.py",
        "loadgen/driver/requests/turn.py",
        "loadgen/driver/requests/attempt.py",
        "loadgen/driver/stop.py",
    ),
    "Sending and stamping": (
        "loadgen/driver/client/endpoint.py",
        "loadgen/driver/client/http_transport.py",
        "loadgen/driver/client/connection.py",
        "loadgen/driver/client/arrival.py",
        "loadgen/driver/client/arrival_bounds.py",
        "loadgen/driver/client/exchange.py",
    ),
    "Reading the answer": (
        "loadgen/driver/client/codec.py",
        "loadgen/driver/client/chat_completions.py",
        "loadgen/driver/client/sse.py",
        "loadgen/driver/client/frame_cache.py",
        "loadgen/driver/client/stream.py",
        "loadgen/driver/client/parsed_response.py",
        "loadgen/driver/client/failure.py",
        "loadgen/driver/requests/response_payload.py",
    ),
    "From the worker to the disk": (
        "loadgen/driver/workers/pool.py",
        "loadgen/driver/workers/worker_process.py",
        "loadgen/driver/workers/shipping.py",
        "recorder/event.py",
        "recorder/lifecycle.py",
        "recorder/writer.py",
        "recorder/backlog.py",
        "recorder/store.py",
        "recorder/schema.py",
    ),
    "From the log to a report": (
        "reporter/log/opened.py",
        "reporter/log/sqlite_log.py",
        "reporter/log/tables.py",
        "reporter/log/database.py",
        "reporter/log/window.py",
        "reporter/sql/requests.sql",
        "reporter/sql/counted.sql",
        "reporter/sql/samples.sql",
        "reporter/sql/arriving.sql",
        "reporter/sql/arrived.sql",
        "reporter/distribution.py",
        "reporter/late_read_bounds.py",
        "reporter/metrics.py",
        "reporter/report.py",
        "reporter/reporter.py",
        "reporter/measured/log_evidence.py",
    ),
    "From the report to the verdict": (
        "rulesets/quantity.py",
        "rulesets/request_metrics.py",
        "rulesets/metric_table.py",
        "rulesets/expression.py",
        "rulesets/target.py",
        "rulesets/ruleset.py",
        "rulesets/evaluation.py",
        "rulesets/evaluators/rule_row.py",
        "rulesets/evaluators/targets.py",
        "rulesets/evaluators/figure.py",
        "rulesets/verdict.py",
        "reporter/render/console.py",
    ),
}
"""The core, by the step of a request's life. A file that only some runs need belongs elsewhere."""


def first_line(path: Path) -> str:
    """The first sentence of a file's docstring, or of the comment of a SQL file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".sql":
        lines = (line.removeprefix("--").strip() for line in text.splitlines() if line.startswith("--"))
        return " ".join(lines).split(". ")[0].removesuffix(".") + "."
    return (ast.get_docstring(ast.parse(text)) or "").splitlines()[0]


def table() -> str:
    """The core as a table for each step."""
    parts = []
    for step, files in CORE.items():
        rows = "".join(f"| `{file}` | {first_line(ROOT / file)} |\n" for file in files)
        parts.append(f"\n### {step}\n\n| file | concept |\n|---|---|\n{rows}")
    return "".join(parts) + "\n"


def test_the_page_lists_the_core() -> None:
    """File by file, each with the first line of its docstring."""
    golden.check_part(PAGE, "<!-- core -->\n", "<!-- /core -->", table())


def test_the_core_can_be_read_in_an_afternoon() -> None:
    """At most 14,500 lines, each file once."""
    files = [file for files in CORE.values() for file in files]
    assert len(files) == len(set(files))
    assert sum(len((ROOT / file).read_text(encoding="utf-8").splitlines()) for file in files) <= MOST_LINES
