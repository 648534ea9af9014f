r"""The content of the last `\boxed{…}` of a solution.

By `last_boxed_only_string` and `remove_boxed` of hendrycks/math at commit 985bdc16.
"""

from __future__ import annotations

import re
from typing import Final

_BOXED: Final = "\\boxed{"
_BRACE: Final = re.compile("[{}]")


def last_boxed(text: str) -> str | None:
    r"""The content of the last `\boxed{…}`; None without a complete one."""
    start = text.rfind("\\boxed")
    if start < 0 or not text.startswith(_BOXED, start):
        return None
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return text[start + len(_BOXED) : brace.start()]
    return None
