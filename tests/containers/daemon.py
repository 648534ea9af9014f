"""What tests need of Docker: a daemon, and the image that `tests/containers/image.sh` makes."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.sandbox.docker_daemon import built_name, connect
from workloads.errors import WorkloadError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

IMAGE = "llm-loadgen-test"


def docker_client() -> Any:
    """A client of the daemon; without one the test is skipped, or with LOADGEN_NEEDS_DOCKER it fails."""
    if why := _unreachable():
        return _missing(f"no Docker: {why}")
    client = connect()
    if not client.images(IMAGE):
        client.close()
        return _missing("no image for tests of containers: tests/containers/image.sh makes it, as root")
    return client


@cache
def _unreachable() -> str:
    """Why no daemon answers; empty where one does."""
    try:
        connect().close()
    except WorkloadError as error:
        return str(error)
    return ""


@contextmanager
def built_images(folder: Path) -> Iterator[None]:
    """A block at whose end the images of the Dockerfiles below a folder are removed."""
    from docker.errors import ImageNotFound

    client = docker_client()
    try:
        yield
        for path in folder.rglob("Dockerfile"):
            with suppress(ImageNotFound):
                client.remove_image(built_name(path), force=True)
    finally:
        client.close()


def _missing(why: str) -> None:
    if os.environ.get("LOADGEN_NEEDS_DOCKER"):
        pytest.fail(f"LOADGEN_NEEDS_DOCKER is set: {why}")
    pytest.skip(f"CONTAINERS ARE NOT TESTED: {why}")
