"""Access to compiled code (`_wire.c`, `_chunks.c`), built on Linux with a compiler."""

from __future__ import annotations

import warnings
from typing import Any, Final

try:
    from loadgen.driver.client import _wire
except ImportError:
    _built: Any = None
else:
    _built = _wire

INTERFACE: Final = 10
"""What Python expects of the compiled module; `_wire.c` has the same number, a change raises both."""


def of_this_version(module: Any) -> Any:
    """The compiled module, or None with a warning if built from other sources."""
    if module is None or getattr(module, "INTERFACE", None) == INTERFACE:
        return module
    warnings.warn(
        f"{module.__file__} is from another version of loadgen, so the client's I/O runs in Python "
        "and takes more CPU. `pip install -e .` builds the file again",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


_module: Any = of_this_version(_built)

COMPILED: Final = _module is not None


def compiled_function(name: str) -> Any:
    """A function of the compiled module; None without the module."""
    return getattr(_module, name, None)
