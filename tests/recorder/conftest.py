"""What tests of the recorder share."""

from __future__ import annotations

import pytest


@pytest.fixture
def health_at_the_end_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The recorder logs its own health at the end alone, however long a test takes."""
    monkeypatch.setattr("recorder.writer.HEALTH_INTERVAL_S", 3600.0)
