"""The installed software of a machine, queried before any code of this package runs on a node.

This module imports nothing of this package: the function is sent to the node as it is.
"""

from __future__ import annotations

from typing import Any


def machine_facts() -> dict[str, Any]:
    """The host, the CPUs, and the version of llm-loadgen; None if not installed.

    `sources` is a digest of the package's modules: two of one version may still differ.
    """
    import hashlib
    import os
    import platform
    import resource
    import socket
    from contextlib import suppress
    from importlib.metadata import PackageNotFoundError, version
    from importlib.util import find_spec
    from pathlib import Path

    digest = hashlib.sha256()
    for package in ("lazy_dataclasses", "loadgen", "recorder", "reporter", "rulesets", "workloads"):
        spec = find_spec(package)
        for root in () if spec is None else spec.submodule_search_locations or ():
            for path in sorted(Path(root).rglob("*.py")):
                digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    package_version = None
    with suppress(PackageNotFoundError):
        package_version = version("llm-loadgen")
    boot = Path("/proc/sys/kernel/random/boot_id")
    affinity = getattr(os, "sched_getaffinity", None)
    return {
        "host": socket.gethostname(),
        "boot_id": boot.read_text(encoding="ascii").strip() if boot.exists() else "",
        "version": package_version,
        "sources": digest.hexdigest()[:12],
        "python": platform.python_version(),
        "cpus": len(affinity(0)) if affinity else os.cpu_count() or 1,
        "open_files": resource.getrlimit(resource.RLIMIT_NOFILE)[1],
    }
