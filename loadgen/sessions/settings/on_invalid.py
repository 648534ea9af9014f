"""The option `--on-invalid`: whether a run that only the client or its machine made invalid is accepted."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from loadgen.sessions.settings.option import Option

HELP: Final = "If only the client invalidated the run: fail (exit 4), or warn and evaluate the run anyway."

OnInvalid = Annotated[
    Literal["fail", "warn"] | None,
    Option("--on-invalid", help=f"{HELP} Default: as the run was started.", show_default=False),
]
"""The option for a run that is over: None for what it was started with."""
