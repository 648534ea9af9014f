"""Taking secrets out of texts, in the forms in which servers repeat them.

A secret is found as it is, and as JSON, a URL, HTML and base64 write it. It is not found in parts: a server
that shows the first letters of a key, or one letter a line, tells what it likes.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

MASK: Final = "***"

VARIABLES: Final = (
    "LOADGEN_API_KEY",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "LOADGEN_MOCK_API_KEY",
    "LOADGEN_JUDGE_API_KEY",
    "LOADGEN_PUSH_AUTHORIZATION",
    "LOADGEN_USER_API_KEY",
)
"""What holds a secret in the environment."""

SHORTEST: Final = 6
"""Shorter values are words such as `true`, which are not secrets and are in any text."""

_LETTERS: Final = re.compile("[0-9A-Za-z]+")
_NEVER: Final = re.compile(r"(?!)")


def secrets_of(headers: Mapping[str, str]) -> set[str]:
    """The secrets in request headers: each value, its final word, and what of it is a secret by itself.

    The final word is what follows `Bearer`; a cookie's value may come alone; `Basic` is a name and a
    password.
    """
    secrets: set[str] = set()
    for name, value in headers.items():
        secrets |= {value.strip(), *value.split()[-1:]}
        if name.lower() == "cookie":
            secrets |= {pair.partition("=")[2].strip() for pair in value.split(";")}
        scheme, _, credentials = value.strip().partition(" ")
        if scheme.lower() == "basic":
            secrets |= _name_and_password(credentials)
    return secrets


def pattern_of(secrets: Iterable[str]) -> re.Pattern[str]:
    """The pattern of secrets in all forms; the longer of two that begin alike goes first."""
    longest_first = sorted(
        {secret for secret in secrets if len(secret) >= SHORTEST}, key=lambda of: (len(of), of), reverse=True
    )
    return (
        re.compile("|".join(form for secret in longest_first for form in _forms(secret)))
        if longest_first
        else _NEVER
    )


def forms_of(secrets: Iterable[str]) -> list[str]:
    """Substrings: any text that repeats a secret, in any form, has at least one of the substrings."""
    long_ones = [secret for secret in secrets if len(secret) >= SHORTEST]
    codes = [encode(secret.encode()) for secret in long_ones for encode in (b64encode, urlsafe_b64encode)]
    return [
        max(_LETTERS.findall(form), key=len, default="") for form in (*long_ones, *map(bytes.decode, codes))
    ]


def hide(text: str, secrets: Iterable[str]) -> str:
    """A text without the secrets."""
    return pattern_of(secrets).sub(MASK, text)


def without_a_part(text: str, secrets: Iterable[str]) -> str:
    """A text that was cut off somewhere, without the beginning of a secret at its end."""
    for secret in secrets:
        for length in range(min(len(secret) - 1, len(text)), SHORTEST - 1, -1):
            if text.endswith(secret[:length]):
                return text[:-length] + MASK
    return text


def _forms(secret: str) -> Iterator[str]:
    """Patterns of a secret: letter by letter, plain or escaped; and in base64."""
    yield "".join(map(_letter, secret))
    for encode in (b64encode, urlsafe_b64encode):
        yield re.escape(encode(secret.encode()).decode().rstrip("="))


def _letter(char: str) -> str:
    """A character, plain or, unless a letter or digit, as escaped in a URL, JSON or HTML."""
    plain = re.escape(char)
    if char.isalnum():
        return plain
    # Only secrets need it, and its table of entities takes a millisecond.
    from html import escape

    code, html = f"{ord(char):02x}", escape(char)
    forms = [f"\\\\?{plain}", f"(?i:%{code}|\\\\u00{code}|&#x0*{code};)", f"&#0*{ord(char)};"]
    if html != char:
        forms.append(re.escape(html))
    return f"(?:{'|'.join([*forms, '[+]'] if char == ' ' else forms)})"


def _name_and_password(credentials: str) -> set[str]:
    try:
        clear = b64decode(credentials, validate=True).decode()
    except ValueError:
        return set()
    return {clear, clear.partition(":")[2]}


def hidden(value: Any, hide: Callable[[str], str]) -> Any:
    """A value with every text passed through `hide`; known names of members stay."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {_hidden_name(name, hide): hidden(member, hide) for name, member in value.items()}
    if isinstance(value, list):
        return [hidden(member, hide) for member in value]
    return value


_NAMES: Final = frozenset(
    {"output", "reasoning", "tool_calls", "index", "id", "type", "function", "name", "arguments"}
)
"""Members of texts, and of tool calls: a secret that is a word of these is not replaced there."""


def _hidden_name(name: str, hide: Callable[[str], str]) -> str:
    return name if name in _NAMES else hide(name)
