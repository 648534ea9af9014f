"""An agent loop: a clerk who looks into the stock with two tools before it answers."""

from __future__ import annotations

import json
import time

from loadgen.agents import (
    OpenAIFunctionParametersSchema,
    OpenAIFunctionPropertySchema,
    OpenAIFunctionSchema,
    OpenAIFunctionToolSchema,
    RolloutAgentLoop,
    RolloutContext,
    RolloutRequest,
    RolloutResult,
)

STOCK = {"lamp": (3, 20.0), "chair": (0, 45.0)}
"""Of each item, how many there are and the price."""


def item_tool(name: str, description: str) -> OpenAIFunctionToolSchema:
    """A tool whose only argument is an item."""
    item = OpenAIFunctionPropertySchema(type="string", enum=list(STOCK))
    parameters = OpenAIFunctionParametersSchema(type="object", properties={"item": item}, required=["item"])
    function = OpenAIFunctionSchema(name=name, description=description, parameters=parameters)
    return OpenAIFunctionToolSchema(type="function", function=function)


class StockClerk(RolloutAgentLoop):
    """Answers questions about the stock."""

    name = "stock_clerk"

    def get_tools(self, request: RolloutRequest) -> list[OpenAIFunctionToolSchema]:
        """Two tools for every question."""
        return [item_tool("in_stock", "How many there are"), item_tool("price", "The price of one")]

    async def run(self, ctx: RolloutContext) -> RolloutResult:
        """Ask, look up, ask again; at most `max_turns` times."""
        messages = list(ctx.request.messages)
        names = {tool.function.name for tool in ctx.tools}
        for turn in range(ctx.request.max_turns):
            result = await ctx.chat(messages, temperature=0.2)
            messages.append(result.message)
            ctx.log_event("answer", turn=turn, finish_reason=result.finish_reason, usage=result.usage)
            if not result.has_tool_calls:
                return ctx.complete(messages, finish_reason=result.finish_reason, reward=1.0 / (turn + 1))
            for call in result.tool_calls:
                name = call["function"]["name"]
                if name not in names:
                    return ctx.error(f"the model calls {name}, which does not exist", messages)
                started = time.monotonic()
                count, price = STOCK[json.loads(call["function"]["arguments"])["item"]]
                content = str(count if name == "in_stock" else price)
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
                ctx.record_tool_call(latency_ms=(time.monotonic() - started) * 1000)
        return RolloutResult(status="COMPLETED", final_messages=messages, finish_reason="max_turns")
