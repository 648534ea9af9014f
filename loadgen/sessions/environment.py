"""The log's facts on this program and this machine."""

from __future__ import annotations

import os
import platform
import sys
from typing import Any, Final

from loadgen.driver.client.arrival import timestamp_source
from loadgen.driver.client.compiled import COMPILED
from loadgen.driver.workers.sizing import usable_cpus
from loadgen.sessions.package_version import package_version

_PACKAGES: Final = ("llm-loadgen", "httptools", "orjson")


def environment() -> dict[str, Any]:
    """The log's facts on this program and this machine."""
    versions = {name: package_version(name) for name in _PACKAGES}
    packages = {name: version for name, version in versions.items() if version is not None}
    return {
        "version": packages.get("llm-loadgen", "unknown"),
        "python": platform.python_version(),
        "platform": _platform(),
        "host": platform.node(),
        "cpus": os.cpu_count(),
        "usable_cpus": usable_cpus(),
        "timestamp_source": timestamp_source(),
        "compiled_io": COMPILED,
        "packages": packages,
    }


def _platform() -> str:
    """`platform.platform()` without the process `uname -p` on Linux."""
    if sys.platform != "linux":
        return platform.platform()
    system = os.uname()
    libc = "".join(platform.libc_ver())
    return "-".join(filter(None, (system.sysname, system.release, system.machine, "with", libc)))
