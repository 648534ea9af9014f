"""What tests need of Docker: a daemon, and the image that `tests/containers/image.sh` makes."""

from __future__ import annotations

import gc
import os
import warnings
from typing import Any

import pytest

from workloads.errors import WorkloadError
from workloads.sandbox.docker_daemon import connect

IMAGE = "llm-loadgen-test"


def docker_client() -> Any:
    """A client of the daemon; without one the test is skipped, or with LOADGEN_NEEDS_DOCKER it fails."""
    try:
        client = connect()
    except WorkloadError as error:
        why = f"no Docker: {error}"
    else:
        why = ""
    if why:
        with warnings.catch_warnings():
            # Docker's client leaves the connection of a failure to the collector.
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()
        return _missing(why)
    if not client.images(IMAGE):
        client.close()
        return _missing("no image for tests of containers: tests/containers/image.sh makes it, as root")
    return client


def _missing(why: str) -> None:
    if os.environ.get("LOADGEN_NEEDS_DOCKER"):
        pytest.fail(f"LOADGEN_NEEDS_DOCKER is set: {why}")
    pytest.skip(f"CONTAINERS ARE NOT TESTED: {why}")
