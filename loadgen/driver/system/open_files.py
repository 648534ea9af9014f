"""How many files this process may have open: every request in flight is a socket."""

from __future__ import annotations

import resource
from contextlib import suppress


def allow_many_files() -> int:
    """Raise the soft limit as far as allowed; return the new limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # macOS says that there is no hard limit, and then refuses it.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft
