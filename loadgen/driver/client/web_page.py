"""A web page where an API's answer should be: a proxy's error, a sign-in page, the wrong URL."""

from __future__ import annotations

import html
import re
from typing import Final

_BEGINS: Final = re.compile(rb"\s*<(?:!doctype\s+html|html|head|body)", re.IGNORECASE)
_TITLE: Final = re.compile(rb"<title[^>]*>(.{0,200}?)</title>", re.IGNORECASE | re.DOTALL)
_HEADING: Final = re.compile(rb"<h1[^>]*>([^<]{0,200})</h1>", re.IGNORECASE)
_LOOKED_AT: Final = 16 * 1024


def page_title(body: bytes) -> str | None:
    """The title of a web page, else its first heading, empty without either; None for a body that is not one.

    Args:
        body: Of a response, or the beginning of it.
    """
    start = body[:_LOOKED_AT]
    if not _BEGINS.match(start):
        return None
    title = _TITLE.search(start) or _HEADING.search(start)
    return " ".join(html.unescape(title[1].decode(errors="replace")).split()) if title else ""


def described(title: str) -> str:
    """A web page in a message, by its title."""
    return f"a web page, {title!r}" if title else "a web page"
