"""A model's tokenizer, for benchmarks that count tokens or cut prompts to a number of them."""

from __future__ import annotations

from typing import Any

from workloads.errors import SourceError


def tokenizer(name: str) -> Any:
    """Load a tokenizer.

    Args:
        name: Of the hub of Hugging Face, or of a folder.

    Raises:
        SourceError: There is none of that name, or it cannot be loaded.
    """
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(name)
    except Exception as error:
        said = " ".join(str(error).split())[:300]
        raise SourceError(
            f"tokenizer={name}: cannot be loaded ({said}); name one of the hub, or a folder with one"
        ) from error
