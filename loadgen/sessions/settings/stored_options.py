"""The options of a run as its log keeps them, without secrets, so that the run can be resumed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.concerns import fields_of, flat_values
from loadgen.sessions.settings.perf import PerfSettings, perf_settings

if TYPE_CHECKING:
    from collections.abc import Mapping


def stored_options(perf: PerfSettings) -> dict[str, Any]:
    """The options with defaults, as JSON values."""
    fields = fields_of(type(perf))
    return {name: plain(value) for name, value in flat_values(perf).items() if fields[name].declared.stored}


def changed_options(perf: PerfSettings) -> list[str]:
    """The names of the stored options without the default value."""
    fields, values = fields_of(type(perf)), flat_values(perf)
    return sorted(
        name for name in values if fields[name].declared.stored and values[name] != fields[name].default
    )


def settings_from_stored(options: Mapping[str, Any], **more: Any) -> PerfSettings:
    """The settings of stored options."""
    if unknown := sorted(options.keys() - fields_of(PerfSettings).keys()):
        raise UsageError(
            f"the run has options unknown to this version ({', '.join(unknown)}): resume with the version "
            "that started the run"
        )
    if options.get("samples") is not None and "sample_order" not in options:
        # Logs without this option took the first questions of a file.
        options = {**options, "sample_order": "file"}
    if options.get("prompts") is None and not options.get("task"):
        # Logs without this option have the texts of seed 0.
        options = {"text_seed": 0, **options}
    return perf_settings(**{**options, **more})


def plain(value: object) -> object:
    """A file's name as text, even if its bytes are not valid text; other values unchanged."""
    return str(value).encode(errors="replace").decode() if isinstance(value, Path | str) else value
