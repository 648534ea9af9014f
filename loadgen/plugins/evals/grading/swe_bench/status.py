"""The statuses that a test can have."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class CaseStatus(StrEnum):
    """Of one test in one log."""

    FAILED = "FAILED"
    PASSED = "PASSED"
    SKIPPED = "SKIPPED"
    ERROR = "ERROR"
    XFAIL = "XFAIL"


STATUSES: Final = tuple(status.value for status in CaseStatus)
"""As a log has them; `str.startswith` takes them as they are."""
