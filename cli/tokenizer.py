"""The option that counts tokens where the server did not."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Tokenizer = Annotated[
    str | None,
    typer.Option(metavar="NAME|FOLDER", help="Count tokens with it where the server did not."),
]


def load(name: str | None) -> Any:
    """Load a tokenizer: transformers takes its time, so only who needs one pays for it.

    Raises:
        UsageError: There is none of that name, or it cannot be loaded.
    """
    if name is None:
        return None
    from transformers import AutoTokenizer

    from cli.errors import UsageError

    try:
        return AutoTokenizer.from_pretrained(name)
    except Exception as error:
        raise UsageError(f"--tokenizer {name}: cannot be loaded ({error})") from error
