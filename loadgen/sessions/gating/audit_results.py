"""The results of audits of a run: one JSON file each, which has at least the outcome."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_NAME: Final = re.compile(r"(?:audit_)?(?P<name>[a-z_]+?)(?:_test)?")
_SAYS: Final[Mapping[str, tuple[str, tuple[type, ...], str]]] = {
    "output_caching": ("passed", (bool,), "whether the audit `passed`: true or false"),
    "perf_mode_accuracy": ("value", (int, float), "the score under load, `value`"),
}
"""What each must have: the key, its types, and both in words."""
_FOLDER: Final = "audit"
_MOST_BYTES: Final = 1024 * 1024


def audits_in(folder: Path | None) -> Mapping[str, Mapping[str, Any]]:
    """The results by the audits' names in rulesets; empty without a folder.

    Args:
        folder: The folder of the audits, or one that has them in `audit`.
    """
    if folder is None:
        return {}
    within = folder / _FOLDER
    place = within if within.is_dir() else folder
    if not place.is_dir():
        raise UsageError(f"--audit {folder}: the folder does not exist")
    audits = dict(_audit(path) for path in sorted(place.glob("*.json")))
    if not audits:
        raise UsageError(
            f"--audit {folder}: has no result of an audit, such as audit_output_caching_test.json"
        )
    return audits


def _audit(path: Path) -> tuple[str, Mapping[str, Any]]:
    import orjson

    try:
        with path.open("rb") as file:
            members = orjson.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError) as error:
        raise UsageError(f"--audit {path}: cannot be read as JSON ({error})") from error
    if not isinstance(members, dict):
        raise UsageError(f"--audit {path}: holds no keys and values")
    test = str(members.get("test") or path.stem)
    called = _NAME.fullmatch(test.lower().replace("-", "_"))
    if called is None or called["name"] not in _SAYS:
        raise UsageError(f"--audit {path}: {test!r} is not an audit; there is {' and '.join(_SAYS)}")
    key, kinds, what = _SAYS[called["name"]]
    if not isinstance(members.get(key), kinds) or (isinstance(members[key], bool) and bool not in kinds):
        raise UsageError(f"--audit {path}: does not say {what}")
    n = members.get("n", 1)
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise UsageError(f"--audit {path}: `n` must be how many samples were scored, 1 or more")
    return called["name"], members
