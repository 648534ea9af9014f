"""An event loop for one piece of work, which an interrupt at any moment leaves whole or closed."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

from loadgen.driver.system.signals import deferred

if TYPE_CHECKING:
    from collections.abc import Coroutine

Result = TypeVar("Result")


def run_async(work: Coroutine[Any, Any, Result]) -> Result:
    """`asyncio.run`, but an interrupt cannot leave a half-made event loop or warn of work that never began.

    Such a loop has no attributes to be closed with: its destructor would print a traceback.
    """
    with closing(work), closing(asyncio.Runner()) as runner:
        with deferred():
            runner.get_loop()
        return runner.run(work)
