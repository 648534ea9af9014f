"""The log's facts on this program and this machine."""

from __future__ import annotations

import os
import platform
import re
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client.arrival import timestamp_source
from loadgen.driver.client.compiled import COMPILED
from loadgen.driver.workers.launcher import usable_cpus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


_VERSION: Final = re.compile(r"^Version: *(\S+)", re.MULTILINE)
_SEPARATORS: Final = re.compile(r"[-_.]+")
_FILES: Final = {"dist-info": "METADATA", "egg-info": "PKG-INFO"}
"""The folder of an installed package ends with one of these, and has its metadata in this file."""


@cache
def package_version(package: str) -> str | None:
    """The version of a package; None where it is not installed."""
    for metadata in map(Path, _installed(tuple(sys.path)).get(_normalized(package), ())):
        if metadata.is_file():
            line = _VERSION.search(metadata.read_text("utf-8", "replace"))
            return line[1] if line else None
    return None


@cache
def _installed(folders: tuple[str, ...]) -> Mapping[str, Sequence[str]]:
    """Where metadata of all packages in these folders may be, by normalized name; the first one counts.

    There may be hundreds, so no Path is made of them.

    Source: https://packaging.python.org/en/latest/specifications/recording-installed-packages/
    """
    files: dict[str, list[str]] = {}
    for folder in folders:
        # A folder may be missing or unreadable, and an entry may be an archive.
        with suppress(OSError), os.scandir(folder or ".") as entries:
            for entry in entries:
                stem, _, ending = entry.name.rpartition(".")
                if stem and ending in _FILES:
                    place = os.path.join(entry.path, _FILES[ending])  # noqa: PTH118 (see above)
                    files.setdefault(_normalized(stem.partition("-")[0]), []).append(place)
    return files


def _normalized(name: str) -> str:
    return _SEPARATORS.sub("-", name).lower()
