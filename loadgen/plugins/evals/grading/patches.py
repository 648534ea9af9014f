"""Patches in answers: extraction, and the applicable parts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from workloads.answer import Answer

_TAGGED: Final = re.compile(r"<([\w-]+)>(.*?)</\1>", re.DOTALL)
_FENCED: Final = re.compile(r"```(\w+)?\n(.*?)```", re.DOTALL)
_PATCHES: Final = frozenset({"diff", "patch"})
_FILE: Final = re.compile(r"(?=^diff --git )", re.MULTILINE)
_BINARY: Final = re.compile(r"^(?:Binary files .* differ|GIT binary patch)$", re.MULTILINE)


def patch_of(answer: Answer) -> str | None:
    """The patch of an episode, or else of the answer's text; None where the episode left none."""
    if answer.episode is not None:
        patch = answer.episode.details.get("patch")
        return patch if isinstance(patch, str) else None
    return patch_in(answer.text)


def patch_in(text: str) -> str:
    """The patch in a text, by SWE-bench 5.0.2 (`swebench/inference/make_datasets/utils.py`).

    The first element `<patch>` or `<diff>`, else the first block marked so, else the first other element or
    block, else the whole text. A patch ends with a line feed.
    """
    parts = [*_TAGGED.findall(text), *_FENCED.findall(text)]
    marked = [content for name, content in parts if name in _PATCHES]
    patch: str = (marked or [content for _, content in parts] or [text.split("</s>", maxsplit=1)[0]])[
        0
    ].lstrip("\n")
    return patch if patch.endswith("\n") or not patch.strip() else f"{patch}\n"


def without_binary_files(patch: str) -> str:
    """A patch without binary files (scaleapi/SWE-bench_Pro-os at 0875a8af)."""
    return "".join(part for part in _FILE.split(patch) if part.strip() and not _BINARY.search(part))
