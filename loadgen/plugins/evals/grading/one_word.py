"""Judges that are asked for one word."""

from __future__ import annotations

import re
from typing import Final

_THINKING: Final = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_YES_OR_NO: Final = re.compile(r"\b(yes|no)\b")


def true_or_false(reply: str) -> bool | None:
    """Whether a reply is TRUE; None where the whole reply is neither TRUE nor FALSE, case aside."""
    return {"TRUE": True, "FALSE": False}.get(reply.strip().upper())


def last_yes_or_no(reply: str) -> bool | None:
    """Whether the last `yes` or `no` behind a model's thinking is a `yes`; None where there is neither."""
    answers = _YES_OR_NO.findall(_THINKING.sub("", reply).strip().lower())
    return answers[-1] == "yes" if answers else None
