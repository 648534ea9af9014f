"""An OpenAI-compatible endpoint in a separate process that records every sent chunk with its time.

Start it from Python with `start_mock`, from a shell with `loadgen mock`. docs/mock.md describes it.
"""

from loadgen.mock_endpoint.errors import MockError, MockOptionsError, MockSetupError
from loadgen.mock_endpoint.options import MockOptions
from loadgen.mock_endpoint.process import MockProcess, start_mock
from loadgen.mock_endpoint.punctuality import Punctuality
from loadgen.mock_endpoint.truth import Truth

__all__ = [
    "MockError",
    "MockOptions",
    "MockOptionsError",
    "MockProcess",
    "MockSetupError",
    "Punctuality",
    "Truth",
    "start_mock",
]

mock = start_mock
"""As the package `loadgen` names it."""
