"""The pages of docs that extend the program: their blocks by file, and their lines put into tables."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"

NO_PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""For a pytest in a copy of the program: the plug-ins of this one take half of its time."""


def blocks(page: str) -> dict[str, str]:
    """The files of a page: each block by the last path that is named before it.

    Args:
        page: Its name in docs/.
    """
    text = (DOCS / page).read_text(encoding="utf-8")
    files: dict[str, str] = {}
    path = ""
    for piece in re.finditer(r"```\w*\n(?P<block>.*?)```|`(?P<path>[\w/]+\.\w+)`", text, re.DOTALL):
        if piece["path"]:
            path = piece["path"]
        else:
            files.setdefault(path, piece["block"])
    return files
