"""The metrics of uploads: requests from 64 KiB on, whose sending is part of the time to the first token."""

from __future__ import annotations

from typing import Final

from rulesets.quantity import LATENCY, LENGTH, SIZE, ConsoleRow, MetricDefinition

UPLOAD_METRICS: Final = (
    MetricDefinition(
        name="ttft_after_upload",
        quantity=LATENCY,
        meaning="TTFT of a large request without the upload: from its last byte at the server",
        definition="first token - uploaded",
        use="the server's time to the first token of a request with images, whatever the network",
        ends=("low", "high"),
        needs=("stream",),
        label="TTFT after upload",
        console=ConsoleRow(),
        compared=("p(50)", "p(95)"),
    ),
    MetricDefinition(
        name="upload",
        quantity=LATENCY,
        meaning="upload time of a large request: from its first part to the acknowledgment of its last byte",
        definition="uploaded - upload begun",
        use="the network's and the server's time to take the request",
        ends=("low", "high"),
        label="Upload",
        console=ConsoleRow(),
    ),
    MetricDefinition(
        name="request_bytes",
        quantity=SIZE,
        meaning="bytes of a large request with its head",
        definition="bytes of the request, from 64 KiB on",
        use="the size of the upload; base64 adds a third to a file",
    ),
    MetricDefinition(
        name="media_tokens",
        quantity=LENGTH,
        meaning="tokens of images, audio and video in the prompt of a request",
        definition="by the server's usage; else input tokens - tokens of the texts by `--tokenizer`",
        use="the part of the prefill that media cause",
        needs=("tokens",),
    ),
)
