"""What audits of a run have left in a folder: one JSON file each, which says at least how it ended."""

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
"""What each must say: the key, its types, and that in words."""
_FOLDER: Final = "audit"
_MOST_BYTES: Final = 1024 * 1024


def audits_in(folder: Path | None) -> Mapping[str, Mapping[str, Any]]:
    """What was found, by the name of the audit as rulesets call it; nothing without a folder.

    Args:
        folder: That of the audits, or the one that has them in `audit`.

    Raises:
        UsageError: It is no folder, holds no audit, or something in it is none.
    """
    if folder is None:
        return {}
    within = folder / _FOLDER
    place = within if within.is_dir() else folder
    if not place.is_dir():
        raise UsageError(f"--audit {folder}: the folder does not exist")
    found = dict(_audit(path) for path in sorted(place.glob("*.json")))
    if not found:
        raise UsageError(
            f"--audit {folder}: no audit has left anything there, such as audit_output_caching_test.json"
        )
    return found


def _audit(path: Path) -> tuple[str, Mapping[str, Any]]:
    import orjson

    try:
        with path.open("rb") as file:
            told = orjson.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError) as error:
        raise UsageError(f"--audit {path}: cannot be read as JSON ({error})") from error
    if not isinstance(told, dict):
        raise UsageError(f"--audit {path}: holds no keys and values")
    test = str(told.get("test") or path.stem)
    called = _NAME.fullmatch(test.lower().replace("-", "_"))
    if called is None or called["name"] not in _SAYS:
        raise UsageError(f"--audit {path}: {test!r} is no audit; there is {' and '.join(_SAYS)}")
    key, kinds, what = _SAYS[called["name"]]
    if not isinstance(told.get(key), kinds) or (isinstance(told[key], bool) and bool not in kinds):
        raise UsageError(f"--audit {path}: does not say {what}")
    n = told.get("n", 1)
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise UsageError(f"--audit {path}: `n` must be how many samples were scored, 1 or more")
    return called["name"], told
