"""The fixtures of the command line's tests."""

from tests.cli.conftest import mock

__all__ = ["mock"]
