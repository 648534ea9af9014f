"""The protocols of scenarios: the writer of each protocol's frames, and groups by feature."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

from loadgen.driver.client.protocols import PROTOCOLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.mock_endpoint.scenarios.dialect import Dialect

DIALECTS: Final[Mapping[str, Dialect]] = {
    name: cast("Dialect", import_module(entry.dialect)) for name, entry in PROTOCOLS.items() if entry.dialect
}
"""What writes the frames of each protocol that has a dialect in the table of protocols."""

OPENAI: Final = ("chat", "completions")
"""Those with `choices` and `[DONE]`, in whose frames some scenarios are written out."""

ALL: Final = tuple(DIALECTS)
STREAMED: Final = tuple(name for name in DIALECTS if PROTOCOLS[name].stream != "never")
FIXED: Final = tuple(name for name in DIALECTS if not PROTOCOLS[name].described)
"""Those whose frames do not depend on what the user describes: they announce their end and count tokens."""

WHOLE: Final = tuple(name for name in DIALECTS if PROTOCOLS[name].stream != "always")
"""Those with an answer in one piece."""

STARTED: Final = tuple(name for name, dialect in DIALECTS.items() if dialect.opening())
"""Those whose stream begins with a frame without a token."""
