"""One value of each kind of plug-in that has no page."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadgen.extensions import Attempt, HarnessResults, Headline, ResultFormat

if TYPE_CHECKING:
    from reporter import Comparison


def hello(*, name: str = "world") -> None:
    """Greet someone."""
    sys.stdout.write(f"Hello, {name}!\n")


def publish(settings: Any, record: Any) -> str:
    """Write the figures of a run, named by the project."""
    path = Path(settings.project)
    path.write_text(json.dumps(dict(record.figures)))
    return str(path)


def read(path: Path) -> HarnessResults:
    """A line per attempt: the task and the score."""
    lines = [line.split() for line in path.read_text().splitlines()]
    return HarnessResults(
        attempts=[Attempt(task_id=task, value=float(score)) for task, score in lines], model="m"
    )


PLAIN = ResultFormat("plain", "a line per attempt", "the tests", read, (Headline("best", "max(value)"),))


def verdict(parts: Any) -> str:
    """The statuses."""
    return " ".join(part.verdict.status for part in parts) + "\n"


def comparison(compared: Comparison) -> str:
    """The status."""
    return f"{compared.status}\n"
