"""Work that any signal cancels, in its own event loop."""

from __future__ import annotations

import gc
import warnings

import pytest

from loadgen.driver.stop import run_unless_interrupted


async def answer() -> int:
    """Work that is done at once."""
    return 42


def test_the_work_is_done() -> None:
    """Its result is returned."""
    assert run_unless_interrupted(answer) == 42


@pytest.mark.slow
def test_an_interrupt_before_the_loop_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing warns that the work was never awaited."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("asyncio.Runner.run", interrupted)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(KeyboardInterrupt):
            run_unless_interrupted(answer)
        gc.collect()
    assert not warned
