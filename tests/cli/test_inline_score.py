"""A run of MLPerf's agentic rows is scored inline, and evaluated by the ruleset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from loadgen.mock_endpoint.process import start_mock

if TYPE_CHECKING:
    from pathlib import Path

CALL = {"id": "1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}


def test_a_run_is_scored_and_gated(loadgen: Any, tmp_path: Path) -> None:
    """The answers of a run against the rows of its trace; the window of rates ends with the first user."""
    rows = [
        {"conversation_id": name, "turn": turn, **row}
        for name in ("django", "flask")
        for turn, row in enumerate(
            [
                {"role": "user", "content": "Fix it.", "system": "You fix."},
                {"role": "assistant", "tool_calls": [CALL]},
                {"role": "tool", "tool_results": [{"tool_call_id": "1", "content": "a"}]},
                {"role": "assistant", "content": "Done."},
            ],
            1,
        )
    ]
    trace = tmp_path / "rows.jsonl"
    trace.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    replay = ("--trace", trace, "-c", "2", "--passes", "2", "--salt", "--salt-at", "system")
    with start_mock(ttft="1ms", itl="1ms", tokens="4") as server:
        common = ("--url", server.url, "--model", "kimi-k3", "--out", "run", "--on-invalid", "warn", "-q")
        loadgen("perf", *common, *replay)
    scored = loadgen("inline-score", "run", "--json")
    assert orjson.loads(scored.stdout) == {"percent": 0.0, "turns": 4, "missing": 0}
    done = loadgen(
        "gate",
        "run",
        "--ruleset",
        "mlperf-agentic-like",
        "--accuracy",
        "run/inline_score.json",
        "--json",
    )
    verdict = orjson.loads(done.stdout)
    rows_of = {row["id"]: row for row in verdict["rows"]}
    assert rows_of["options.salt_at"]["status"] == rows_of["audit.salt"]["status"] == "PASS"
    assert (rows_of["accuracy.inline"]["status"], rows_of["accuracy.inline"]["observed"]) == ("FAIL", 0.0)
    assert rows_of["system_tps"]["observed"] > 0
