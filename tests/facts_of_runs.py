"""What was run, for tests that care for a part of it."""

from __future__ import annotations

from typing import Any

from reporter.run_facts import RunFacts


def run_facts(**facts: Any) -> RunFacts:
    """The facts of a run, of which the rest is not known."""
    return RunFacts(**{"session_id": "", "started_at": "", "ended": "", **facts})
