"""`loadgen mock`: serve a mock endpoint until stopped."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loadgen.sessions.settings.mock import MockSettings


def mock(settings: MockSettings) -> None:
    """Serve an OpenAI-compatible endpoint with chosen timing; --truth records every sent chunk.

    It prints one line, `listening on http://HOST:PORT/v1`, and serves until SIGTERM or Ctrl-C. It then says
    on standard error whether it kept up.

    [bold]Example[/bold]

    loadgen mock --ttft lognormal:80ms,0.4 --itl 12ms --tokens uniform:32..256 --slots 8
    """
    from loadgen.mock_endpoint.server import serve

    punctuality = serve(settings.options())
    if punctuality is not None:
        print(punctuality, file=sys.stderr)
