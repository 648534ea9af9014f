"""`python -m loadgen.driver.providers`: OpenAI's chat completions over LiteLLM, until standard input ends.

It writes the port that it listens on, on 127.0.0.1, as its first line. Keys are those that the provider's
variables have (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`): the header of a request is not passed on.
"""

from __future__ import annotations

import asyncio
import os
import sys
from http import HTTPStatus
from typing import Any

import orjson
from aiohttp import web

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it fetches a table of prices
import litellm

litellm.suppress_debug_info = True


async def complete(request: web.Request) -> web.StreamResponse:
    """Pass a request on to the provider, and stream the answer back."""
    body = orjson.loads(await request.read())
    try:
        answer = await litellm.acompletion(**body)
        if not body.get("stream"):
            return web.json_response(text=answer.model_dump_json(exclude_none=True))
        return await _streamed(request, answer)
    except Exception as error:  # noqa: BLE001 (LiteLLM's errors have no common class)
        status = getattr(error, "status_code", None)
        if not isinstance(status, int) or status < HTTPStatus.BAD_REQUEST:
            status = HTTPStatus.BAD_GATEWAY
        # The provider's response is there where it sent one.
        theirs = getattr(getattr(error, "response", None), "headers", None) or {}
        headers = {name: value for name, value in theirs.items() if name.lower().startswith("retry-after")}
        return web.json_response(_described(error), status=status, headers=headers)


def _described(error: Exception) -> dict[str, Any]:
    """An error in OpenAI's form, with the provider's code if any."""
    code = getattr(error, "code", None)
    named = {"code": str(code)} if isinstance(code, str | int) else {}
    return {"error": {"message": str(error), "type": type(error).__name__, **named}}


async def _streamed(request: web.Request, answer: Any) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    try:
        async for chunk in answer:
            await response.write(b"data: " + chunk.model_dump_json(exclude_none=True).encode() + b"\n\n")
    except Exception as error:  # noqa: BLE001 (as above; the head has been sent)
        await response.write(b"data: " + orjson.dumps(_described(error)) + b"\n\n")
    await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response


async def serve() -> None:
    """Serve until standard input ends."""
    application = web.Application(client_max_size=0)
    application.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)  # noqa: T201 (for the program that started this one)
    await asyncio.to_thread(sys.stdin.buffer.read)
    await runner.cleanup()


asyncio.run(serve())
