"""The models of a round by the submission tool's names, which also name folders."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulesets.loading import Book

_LONGEST: Final = 64


@dataclass(frozen=True, slots=True)
class RoundModels:
    """The models of a round.

    Attributes:
        agentic: Whether each is a benchmark of conversations with tools, by its official name.
    """

    agentic: Mapping[str, bool]
    _book: Book

    @classmethod
    def of(cls, book: Book) -> RoundModels:
        """Take the models of the round's rules."""
        return cls(
            {
                canonical(entry.name): all(name.startswith("agentic") for name in entry.scenarios)
                for entry in book.entries
            },
            book,
        )

    def name(self, model: str) -> str:
        """The official name of a model; for an unknown model the name in the tool's spelling."""
        from rulesets.choosing import called

        entries = called(self._book.entries, model)
        return canonical(entries[0].name if len(entries) == 1 else model)


def canonical(model: str) -> str:
    """A model's name in the submission tool's spelling, `llama3_1-8b`; `model` if nothing remains.

    mlcommons/endpoints-submission-cli 1.5.3.0 (submission_checker/layout.py, canonical_model_name): the last
    part of a path, with `_` for all but letters, digits, `_` and `-`, 64 characters at most.
    """
    last = model.rstrip("/").rsplit("/", 1)[-1]
    return re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9_-]", "_", last)).strip("_-")[:_LONGEST] or "model"
