"""Markdown as plain text, where documentation is printed or described in a schema."""

from __future__ import annotations

import re
from typing import Final

_LINK: Final = re.compile(r"\[([^]]*)]\([^)]*\)")


def without_links(markdown: str) -> str:
    """The text with the words of each link in place of the link."""
    return _LINK.sub(r"\1", markdown)
