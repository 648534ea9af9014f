"""Whether the compiled I/O loop (`_wire.c`) is there: it is built on Linux, where there is a compiler."""

from __future__ import annotations

from typing import Final

try:
    import loadgen.driver.client._wire  # noqa: F401 (whether it can be imported is the question)
except ImportError:
    _is_there = False
else:
    _is_there = True

COMPILED: Final = _is_there
