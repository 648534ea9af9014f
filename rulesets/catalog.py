"""Rulesets by name: those that come with the program, and files."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rulesets.errors import RulesetError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_BUILTIN: Final = Path(__file__).parent / "builtin"
_STEM: Final = re.compile(r"(?P<name>.+?)-(?P<version>v?\d.*)")
"""The name of a file that comes with the program, without its ending: NAME-VERSION."""
_ENDINGS: Final = (".yaml", ".yml", ".json")


def names() -> Sequence[str]:
    """The rulesets that come with the program, as NAME@VERSION, by name and from old to new."""
    return [f"{name}@{version}" for name, versions in sorted(_builtin().items()) for version in versions]


def find(reference: Path | str, folder: Path | None = None) -> Path:
    """Find the file of a ruleset.

    Args:
        reference: NAME@VERSION, NAME for its newest version, or the path of a file: what has an ending of
            YAML or a folder before it. Any other text is the path of a file if no ruleset has that name.
        folder: The folder that a relative path starts from; None for the current one.

    Raises:
        RulesetError: It is neither a ruleset nor a file; the message names the nearest.
    """
    text = str(reference)
    path = (folder or Path()) / text
    if isinstance(reference, Path) or os.sep in text or text.endswith(_ENDINGS):
        return path
    name, sign, version = text.partition("@")
    versions = _builtin().get(name, {})
    if versions and not sign:
        return list(versions.values())[-1]
    if version in versions:
        return versions[version]
    if path.is_file():
        return path
    if versions:
        choices = [f"{name}@{number}" for number in reversed([*versions])]
        if not version:
            raise RulesetError(f"{text!r} names no version; {name} is its newest, which is {choices[0]}")
        raise RulesetError(f"there is no version {version!r} of {name}; {suggestion(text, choices)}")
    choices = [*_builtin(), *names()]
    raise RulesetError(
        f"unknown ruleset {text!r}; {suggestion(text, choices)} "
        f"A file is named with its ending, e.g. {text}.yaml"
    )


def _builtin() -> Mapping[str, Mapping[str, Path]]:
    """The files that come with the program, by name and version, the newest version last."""
    files: dict[str, dict[str, Path]] = {}
    for path in sorted(_BUILTIN.glob("*.yaml"), key=lambda path: _numbers(path.stem)):
        stem = _STEM.fullmatch(path.stem)
        if stem is not None:
            files.setdefault(stem["name"], {})[stem["version"]] = path
    return files


def _numbers(text: str) -> list[tuple[int, str]]:
    """A key that sorts numbers as numbers: v6.10 comes after v6.9."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text)]
