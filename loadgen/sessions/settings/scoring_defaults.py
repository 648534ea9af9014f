"""Default time limits and resources of scoring."""

from __future__ import annotations

from typing import Final

DEFAULT_GRADER_TIMEOUT_S: Final = 120.0
"""Seconds: more than any grader takes; a model's program that a scorer runs has its own limits."""

DEFAULT_GRADER_MEMORY: Final = 8 * 1024**3
"""Bytes: more than any grader needs, and too little to bring down the machine."""

DEFAULT_JUDGE_CONCURRENCY: Final = 8
DEFAULT_JUDGE_TIMEOUT_S: Final = 120.0
