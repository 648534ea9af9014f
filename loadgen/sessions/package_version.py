"""The version of an installed package, without the rest of its metadata, which holds its README."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from typing import Final

_VERSION: Final = re.compile(r"^Version: *(\S+)", re.MULTILINE)


@cache
def package_version(package: str) -> str | None:
    """The version of a package; None where it is not installed.

    `importlib.metadata.version` parses all of the metadata as a mail, which a start would wait for.
    """
    try:
        installed = distribution(package)
    except PackageNotFoundError:
        return None
    line = _VERSION.search(installed.read_text("METADATA") or "")
    return line[1] if line else installed.version
