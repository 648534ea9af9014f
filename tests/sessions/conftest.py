"""What the tests of sessions share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _remembered(remembered_logs: None) -> None:
    """What runs in this process loads a log once, and computes its figures once."""
