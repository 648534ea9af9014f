"""The trace of an episode in a file, for a person: requests, tool calls and answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class EpisodeTrace:
    """Appends events to a file of JSON lines, as `log_event` of an agent loop does."""

    def __init__(self, folder: str | None, name: str) -> None:
        self.folder = folder
        self.name = name

    def write(self, event: str, **data: Any) -> None:
        """Append an event.

        Raises:
            OSError: The file cannot be written.
        """
        if self.folder is None:
            return
        path = Path(self.folder, f"{self.name}.jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"event": event, "rollout_id": self.name, **data}, default=str) + "\n")
