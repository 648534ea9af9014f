"""Errors of a mock endpoint.

    MockError
    ├── MockOptionsError     an option that cannot be used (also a ValueError)
    │   └── RepliesError     a replies file that cannot be read
    ├── NotHTTPError         a client sent what is not HTTP/1.1: it is answered with 400
    └── MockSetupError       the options are sound, but the server cannot start: the port is taken, for one

What a client did wrong is not one of these but a `RefusedRequest` (see `ask`), which becomes an answer.
"""

from __future__ import annotations


class MockError(Exception):
    """Anything that the mock endpoint raises."""


class MockOptionsError(MockError, ValueError):
    """An option cannot be used."""


class RepliesError(MockOptionsError):
    """A replies file cannot be read."""


class MockSetupError(MockError):
    """The server cannot start."""
