"""Faults of a file of the submission whose members only the submitter knows, each with what to write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import BaseModel


def faults(
    file: str, shape: type[BaseModel], members: Mapping[str, Any], examples: Mapping[str, str]
) -> Iterator[str]:
    """The members that are missing or wrong.

    Args:
        file: The name of the file without its suffix, which is also the key in `--about`.
        shape: What the submission tool requires.
        members: What the submitter wrote.
        examples: A valid value of each member, as it is written in YAML.
    """
    try:
        shape.model_validate(members)
    except ValidationError as error:
        for fault in error.errors():
            member = ".".join(map(str, fault["loc"]))
            yield sentence(file, member, fault["msg"].removeprefix("Value error, ").lower(), examples)


def sentence(file: str, member: str, reason: str, examples: Mapping[str, str]) -> str:
    """One fault, with an example of the member that has it."""
    name = member.partition(".")[0]
    return f"{file}.json: {member}: {reason}: --about FILE, {file}: {{{name}: {examples[name]}}}"
