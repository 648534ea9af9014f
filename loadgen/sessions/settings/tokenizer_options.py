"""Tokenizers: they count tokens of answers where the server did not, and of synthetic prompts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from loadgen.sessions.settings.option import Option

Tokenizer = Annotated[
    str | None,
    Option(
        metavar="NAME|FOLDER",
        help="Tokenizer that counts what the server did not (pip install 'llm-loadgen[tokenizers]').",
    ),
]


def load(name: str | None) -> Any:
    """Load a tokenizer; transformers is slow to import, so it is imported only here."""
    if name is None:
        return None
    from loadgen.sessions.errors import UsageError
    from workloads.errors import ExtraError, SourceError
    from workloads.tokenizer import load_tokenizer

    try:
        return load_tokenizer(name)
    except (ExtraError, SourceError) as error:
        raise UsageError(f"--tokenizer {name}: {error}") from error


def counter(name: str | None) -> Callable[[str], int] | None:
    """A function that counts the tokens of a text, without special tokens; None without a name."""
    tokenizer = load(name)
    if tokenizer is None:
        return None
    quick = getattr(tokenizer, "backend_tokenizer", None)
    if quick is None:  # written in Python
        return partial(_tokens, tokenizer)
    quick.no_truncation()
    quick.no_padding()
    return partial(_tokens, quick)


def _tokens(tokenizer: Any, text: str) -> int:
    """The tokens of a text: a function of a module, so that workers can be sent it."""
    return len(tokenizer.encode(text, add_special_tokens=False))
