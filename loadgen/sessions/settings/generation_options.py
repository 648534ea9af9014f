"""The options of generation: what each request asks of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from loadgen.driver.client.protocols import names_where
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.endpoint_options import EndpointSettings
from loadgen.sessions.settings.option import Panel

GENERATION: Final = Panel("Generation")

MOST_SEED: Final = 2**63 - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class GenerationSettings:
    """Options of generation."""

    max_tokens: int | None = GENERATION.option(
        "Maximum of output tokens of each request; a benchmark's smaller limit holds."
    )
    temperature: float | None = GENERATION.option("Sampling temperature.")
    request_seed: int | None = GENERATION.option(
        "Sampling seed to send with every request, for servers with repeatable sampling. (--seed is the "
        "client's.)"
    )
    stream: bool = GENERATION.option("Request a stream. TTFT needs one.", True)
    extra_body: str | None = GENERATION.option(
        "Additional members of the request body, e.g. '{\"top_k\": 20}'.", metavar="JSON"
    )

    def check(self, endpoint: EndpointSettings) -> None:
        """Refuse what the protocol of an endpoint cannot ask for."""
        name, protocol = endpoint.protocol, endpoint.protocol_entry
        if not self.stream and protocol.stream == "always":
            raise UsageError(f"--no-stream: --protocol {name} is a stream; use json for one JSON text")
        seed = self.request_seed
        if seed is None:
            return
        if not -MOST_SEED - 1 <= seed <= MOST_SEED:
            raise UsageError(f"--request-seed {seed}: must be a 64-bit integer")
        if protocol.described and "{seed}" not in (endpoint.body or ""):
            raise UsageError(
                f"--request-seed {seed}: --protocol {name} sends what --body says: put "
                'a member such as "seed": "{seed}" into it'
            )
        if not (protocol.seed or protocol.described):
            raise UsageError(
                f"--request-seed {seed}: --protocol {name} has no such member; "
                f"{names_where(lambda each: each.seed)} have it; elsewhere, --extra-body adds what the "
                "server knows"
            )
