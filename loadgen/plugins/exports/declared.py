"""What only the submitter knows of a run, from the file of `--about`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.errors import UsageError
from workloads.documents import read_text
from workloads.errors import MalformedError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

_MOST_BYTES: Final = 1024 * 1024


def declarations(path: Path | None, members: Collection[str]) -> dict[str, Any]:
    """Read a YAML or JSON file of named members; empty without a file.

    Raises:
        UsageError: The file cannot be read, or has another member.
    """
    if path is None:
        return {}
    from workloads.yaml_values import parse_yaml

    try:
        content = parse_yaml(read_text(path, _MOST_BYTES))
    except (OSError, MalformedError) as error:
        raise UsageError(f"--about {path}: cannot be read as YAML or JSON ({error})") from error
    if not isinstance(content, dict):
        raise UsageError(f"--about {path}: must have members: {', '.join(members)}")
    for name in content:
        if name not in members:
            raise UsageError(
                f"--about {path}: {name!r} is not a member{did_you_mean(str(name), members)}; "
                f"choose from {', '.join(members)}"
            )
    return content
