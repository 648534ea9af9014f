"""`python -m loadgen.mock_endpoint '{"port": 0, "ttft": "5ms"}'`: the server, with options as JSON."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

from loadgen.mock_endpoint.errors import MockError, MockOptionsError
from loadgen.mock_endpoint.options import KEY_VARIABLE, MockOptions
from loadgen.mock_endpoint.server import serve


def main(arguments: list[str]) -> int:
    """Serve until a stop is requested.

    Returns:
        The exit code: 0, 2 for options that cannot be used, 3 when the server cannot start.
    """
    try:
        options = MockOptions.from_json(arguments[0] if arguments else "{}")
        key = options.api_key or os.environ.pop(KEY_VARIABLE, None) or None
        punctuality = serve(replace(options, api_key=key))
    except MockError as error:
        print(f"mock endpoint: {error}", file=sys.stderr)  # noqa: T201 (a program's error goes to the terminal)
        return 2 if isinstance(error, MockOptionsError) else 3
    if punctuality is not None:
        print(punctuality.to_json())  # noqa: T201 (for the program that started this one)
    return 0


sys.exit(main(sys.argv[1:]))
