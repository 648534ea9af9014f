"""GitHub Actions, whose runner parses commands in any output."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_ON_GITHUB: Final = "GITHUB_ACTIONS"


def on_github(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this is a job of GitHub Actions."""
    return environment.get(_ON_GITHUB) == "true"
