"""What a log says of this program and of this machine."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from loadgen.driver.client.arrival import timestamp_source
from loadgen.driver.workers.sizing import usable_cpus

_PACKAGES: Final = ("llm-loadgen", "httptools", "orjson")


def environment() -> dict[str, Any]:
    """What the log says of this program and of this machine."""
    packages = {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            packages[name] = version(name)
    return {
        "version": packages.get("llm-loadgen", "unknown"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "host": platform.node(),
        "cpus": os.cpu_count(),
        "usable_cpus": usable_cpus(),
        "timestamp_source": timestamp_source(),
        "packages": packages,
    }
