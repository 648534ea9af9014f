"""Compiles what is written in C into the wheel where there is a compiler; it is never required."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

if TYPE_CHECKING:
    from collections.abc import Sequence

MODULES = {
    Path("loadgen/driver/client/_wire.abi3.so"): (
        "_wire.c",
        "_plain.c",
        "_relay.c",
        "_body.c",
        "_chunks.c",
        "_rows.c",
        "_tls.c",
    ),
    Path("reporter/log/_requests.abi3.so"): (
        "_requests.c",
        "_joined.c",
        "_pages.c",
        "_parts.c",
        "_payload.c",
        "_columns.c",
    ),
}
"""The client's I/O loop, and what joins the events of requests for reports, with their sources.

They lie in the folder of their module. It is built against the stable ABI of CPython 3.11: one file for all
later versions.
"""

FLAGS = ("-O2", "-fPIC", "-shared", "-pthread", "-fvisibility=hidden", "-Wall")
SKIP = "LOADGEN_PURE"
"""This environment variable, set to anything, leaves compiled code out."""

PLATFORM = "LOADGEN_PLATFORM"
"""This environment variable has the platform in a wheel's name, where `CC` compiles for another machine."""


class WireBuildHook(BuildHookInterface[Any]):
    """Adds the compiled modules to a wheel, and to the source folders of an editable installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the modules, and tag the wheel with its platform."""
        self._folder = tempfile.TemporaryDirectory(prefix="loadgen-build-")
        root = Path(self.root)
        for module, names in MODULES.items():
            built = root / module if version == "editable" else Path(self._folder.name) / module.name
            if version == "editable":
                built.unlink(missing_ok=True)
            if (failure := _compile([root / module.parent / name for name in names], built)) is not None:
                self.app.display_warning(f"{module.name} is not built, Python and SQL do its work: {failure}")
            elif version != "editable":
                build_data["force_include"][str(built)] = str(module)
                build_data["pure_python"] = False
                own = sysconfig.get_platform().replace("-", "_").replace(".", "_")
                platform = os.environ.get(PLATFORM) or own
                build_data["tag"] = f"cp311-abi3-{platform}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the compiled modules, which the wheel has copies of."""
        self._folder.cleanup()


def _compile(sources: Sequence[Path], module: Path) -> str | None:
    """Compile the module; return the reason where that fails, else None."""
    if os.environ.get(SKIP):
        return f"{SKIP} is set"
    if not sys.platform.startswith("linux"):
        return "it is for Linux"
    if sys.implementation.name != "cpython":
        return "it is for CPython"
    compiler = shlex.split(os.environ.get("CC") or "cc")
    if shutil.which(compiler[0]) is None:
        return f"there is no compiler {compiler[0]!r}"
    include = sysconfig.get_path("include")
    partial = module.with_suffix(f".{os.getpid()}")
    command = [*compiler, *FLAGS, f"-I{include}", "-o", str(partial), *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"the compiler ended with {done.returncode}"]
        return next((line for line in lines if "error" in line), lines[0])
    partial.replace(module)
    return None
