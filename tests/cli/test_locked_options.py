"""Options that a ruleset locks, on a real run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.mock_endpoint.process import start_mock

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("more", [(), ("--drain", "1s")])
def test_locked_options_are_checked(loadgen: Any, tmp_path: Path, more: tuple[str, ...]) -> None:
    """A run with the options that the rules name passes; any other option than a free one does not."""
    rules = (
        "schema: rulesets/1\nruleset: {name: r, version: '1'}\n"
        "options: {set: {salt: true, requests: 4}, free: [model, text_seed, concurrency, server_metrics]}\n"
        "targets: ['failed==0']\n"
    )
    with start_mock(ttft="1ms", itl="0", tokens="2") as server:
        common = ("--url", server.url, "--model", "mock", "-n", 4, "-c", 2, "--salt", "-q", "--out", "run")
        assert loadgen("perf", *common, *more).returncode in {0, 4}
    (tmp_path / "r.yaml").write_text(rules)
    shown = loadgen("gate", "run", "--ruleset", tmp_path / "r.yaml", "--json")
    rows = {row["id"]: row for row in json.loads(shown.stdout)["rows"]}
    assert [rows[f"options.{name}"]["status"] for name in ("salt", "requests")] == ["PASS", "PASS"]
    others = rows["options.others"]
    assert others["status"] == ("INVALID" if more else "PASS"), others["reason"]
