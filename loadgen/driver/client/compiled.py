"""Whether compiled code (`_wire.c`, `_chunks.c`) is there: it is built on Linux where there is a compiler."""

from __future__ import annotations

from typing import Any, Final

try:
    from loadgen.driver.client import _wire
except ImportError:
    _module: Any = None
else:
    _module = _wire

COMPILED: Final = _module is not None


def compiled_function(name: str) -> Any:
    """A function of the compiled module; None without it, or where an older build lacks the function."""
    return getattr(_module, name, None)
