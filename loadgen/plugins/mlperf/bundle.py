"""Files that are written together, and never over files of others.

`export.json` next to them says what was exported, what it lacks, and the checksum of each file: by it a later
export recognizes its own files, and removes those that it no longer has.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from loadgen.sessions.errors import SetupError, UsageError
from loadgen.sessions.files.run_folder import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

MANIFEST: Final = "export.json"
SCHEMA_VERSION: Final = 1
_MOST_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Bundle:
    """The files of an export.

    Attributes:
        files: The content of each file, by its path in the folder.
        about: What was exported, as JSON.
        missing: What a submission needs in addition, a sentence each.
        invalid: Why the run, or one of them, does not represent the server.
    """

    files: Mapping[str, bytes]
    about: Mapping[str, Any]
    missing: Sequence[str] = ()
    invalid: Sequence[str] = ()

    def manifest(self) -> dict[str, Any]:
        """The content of `export.json`."""
        return {
            "schema_version": SCHEMA_VERSION,
            **self.about,
            "missing": list(self.missing),
            "invalid": list(self.invalid),
            "files": {name: _checksum(content) for name, content in sorted(self.files.items())},
        }


def write_bundle(folder: Path, bundle: Bundle, *, force: bool) -> None:
    """Write a bundle.

    Raises:
        UsageError: The folder has a file that no export wrote, or that was changed since.
        SetupError: It cannot be written.
    """
    import orjson

    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--mlperf-endpoints {folder}: is a file; name a folder")
    before = _written_before(folder, force=force)
    gone = [name for name in before if name not in bundle.files]
    if not force:
        _require_ours(folder, bundle, before, gone)
    for name, content in bundle.files.items():
        _write(folder / name, content)
    for name in gone:
        # With `force` too: a file that was changed since is not the export's any more, and stays.
        if _checksum((folder / name).read_bytes()) == before[name]:
            (folder / name).unlink()
    option = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    _write(folder / MANIFEST, orjson.dumps(bundle.manifest(), option=option))


def _written_before(folder: Path, *, force: bool) -> Mapping[str, str]:
    """The remaining files of an earlier export, with checksums."""
    import orjson

    path = folder / MANIFEST
    if not path.exists():
        return {}
    try:
        manifest = orjson.loads(path.read_bytes())
        checksums = {str(name): str(checksum) for name, checksum in manifest["files"].items()}
        # The manifest may be forged: an export never removes anything outside its folder.
        within = {name: folder / name for name in checksums if _leads_into(folder, name)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        if force:
            return {}
        raise UsageError(f"{path} was not written by an export: choose another folder, or --force") from error
    return {name: checksums[name] for name, path in within.items() if path.is_file()}


def _leads_into(folder: Path, name: str) -> bool:
    """Whether a path stays inside a folder, links included."""
    return (folder / name).resolve().is_relative_to(folder.resolve())


def _require_ours(folder: Path, bundle: Bundle, before: Mapping[str, str], gone: Sequence[str]) -> None:
    """Make sure that only files of an export are overwritten or removed."""
    there = {name: folder / name for name in (*bundle.files, *gone) if (folder / name).exists()}
    others = [
        name
        for name, path in there.items()
        if not path.is_file()
        or _checksum(path.read_bytes()) not in {before.get(name), _checksum(bundle.files.get(name, b""))}
    ]
    if others:
        more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
        raise UsageError(
            f"{folder} has {', '.join(others[:_MOST_NAMED])}{more}, not as an export has written it, and "
            "nothing is overwritten: choose another folder, or --force"
        )


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise SetupError(f"{path} cannot be written ({error.strerror})") from error


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
