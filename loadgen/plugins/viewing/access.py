"""Who may read the local pages: a browser of this machine that has the token, and no page of another site.

The Host header refuses the name of another host that resolves to 127.0.0.1 (DNS rebinding). A page of another
site has no cookie (SameSite=Strict), cannot put these pages into a frame, and cannot read an answer (no CORS
header).
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

HOST: Final = "127.0.0.1"
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""What a page of the server itself may load. A report is one file and has its own stricter policy."""


class Access:
    """Lets in who has the token."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(32)
        self._port = 0

    def url(self, port: int) -> str:
        """The address to open, with the token."""
        self._port = port
        return f"http://{HOST}:{port}/?token={self.token}"

    @staticmethod
    async def add_headers(_: web.Request, response: web.StreamResponse) -> None:
        """Add the headers to an answer before the first byte."""
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        response.headers.setdefault("Content-Security-Policy", _POLICY)

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse requests of other hosts or without the token."""
        if request.host not in {f"{HOST}:{self._port}", f"localhost:{self._port}"}:
            raise web.HTTPForbidden(
                text=f"open http://{HOST}:{self._port}/, not another name of this machine\n"
            )
        cookie = f"loadgen-view-{self._port}"
        offered = request.query.get("token")
        if offered is not None:
            self._require(offered)
            # Without the token in it, the address can be copied and stays out of the history.
            query = [(name, value) for name, value in request.query.items() if name != "token"]
            answer = web.HTTPSeeOther(str(request.url.relative().with_query(query)))
            answer.set_cookie(cookie, self.token, httponly=True, samesite="Strict", path="/")
            raise answer
        self._require(request.cookies.get(cookie, ""))
        return await handler(request)

    def _require(self, offered: str) -> None:
        if not secrets.compare_digest(offered.encode(), self.token.encode()):
            raise web.HTTPForbidden(text="open the address that `loadgen view` printed, with the token\n")
