"""Signs in a log that the environment failed, not the model's patch.

SWE-bench 5.0.2, `swebench/harness/infra_failure.py`. A sign does not change the verdict or the denominator.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Sign(NamedTuple):
    """Why a log looks like a failure of the environment.

    Attributes:
        reason: `out_of_memory`, …
        certain: Whether a patch of source code cannot be the cause.
    """

    reason: str
    certain: bool


_SIGNS: Final = tuple(
    (Sign(reason, certain), re.compile(pattern, re.MULTILINE))
    for reason, certain, pattern in (
        ("browser_launch_failed", True, "Failed to launch|Failed to connect to the bus"),
        ("display_unavailable", True, "cannot open display|Missing X server|unable to open X display"),
        ("out_of_memory", True, "Cannot allocate memory|OutOfMemoryError|^Killed$"),
        ("container_unavailable", True, "Error response from daemon|Cannot connect to the Docker daemon"),
        ("network_unreachable", True, "Could not resolve host|Temporary failure in name resolution"),
        ("missing_module", False, "Cannot find module|MODULE_NOT_FOUND|ModuleNotFoundError"),
        ("no_tests_collected", False, "no tests ran|collected 0 items"),
        ("tests_timed_out", False, r"Timeout error: \d+ seconds exceeded"),
    )
)


def infrastructure_failure(log: str) -> Sign | None:
    """The first sign that a log has, in the official order; None without any."""
    return next((sign for sign, pattern in _SIGNS if pattern.search(log)), None)
