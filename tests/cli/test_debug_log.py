"""`--debug`: what a run does, as lines of text in the run's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from loadgen.mock_endpoint.process import start_mock

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

SECRETS = ("sk-very-private", "private-team")


def test_settings_connections_retries_and_failures_are_written(loadgen: Loadgen, tmp_path: Path) -> None:
    """Without an agent, with every reason, and without a secret; whole when the command has ended."""
    script = tmp_path / "replies.jsonl"
    script.write_bytes(orjson.dumps({"status": 500, "error": "no memory"}))
    key, team = SECRETS
    with start_mock(ttft="1ms", itl="0", replies=script) as server:
        session = ("perf", "--url", server.url, "--model", "m", "-n", 2, "-c", 1, "--no-probe", "--retry", 1)
        secrets = ("--api-key", key, "--header", f"X-Team: {team}")
        done = loadgen(*session, *secrets, "--debug", "--on-invalid", "warn", "--out", "run")
    assert (tmp_path / "run" / "debug" / "session.log").is_file(), done.stderr
    text = (tmp_path / "run" / "debug" / "session.log").read_text()
    lines = [line.split(" ", 3) for line in text.splitlines()]
    assert lines == sorted(lines, key=lambda line: line[1] not in {"SETTINGS", "ENVIRONMENT"})
    shown = [name for _, name, *_ in lines]
    assert shown.count("RETRY") == shown.count("ERROR") == 2
    assert {"PHASE_STARTED", "REQUEST_SENT", "TEST_STARTED"} <= set(shown)
    assert (shown[0], shown[-1]) == ("SETTINGS", "TEST_ENDED")
    assert '"concurrency":1' in text
    assert text.count("no memory") == 4
    assert '"connect_ms"' in text
    assert [secret for secret in SECRETS if secret in text] == []


def test_without_the_option_there_is_no_file(made_run: Path) -> None:
    """And no process that writes one."""
    assert not (made_run / "debug").exists()
