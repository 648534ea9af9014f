"""Error messages without secrets."""

from __future__ import annotations

import os
import sys

from loadgen.driver.client.redaction import VARIABLES, hide, secrets_of
from loadgen.sessions.secrets import OPTIONS, from_files, masked_places


def redacted(text: str) -> str:
    """A message without any secret that this program was given."""
    words = [sys.argv[1:][place] for place in masked_places(sys.argv[1:])]
    words += [os.environ.get(name, "") for name in VARIABLES]
    secrets: set[str] = set()
    for word in (*words, *from_files):
        text_of_option = _without_option(word)
        name, colon, value = text_of_option.partition(":")
        secrets |= {text_of_option} | secrets_of({name: value} if colon else {})
    return hide(text, secrets)


def _without_option(word: str) -> str:
    option, joined, value = word.partition("=")
    return value if joined and option in OPTIONS else word
