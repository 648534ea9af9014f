"""A comparison as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from reporter.render.json import printable

if TYPE_CHECKING:
    from reporter.compare.comparison import Comparison


def render(comparison: Comparison) -> str:
    """Every side, metric and change, two spaces a level."""
    content = orjson.dumps(comparison.to_dict(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    return printable(content.decode())
