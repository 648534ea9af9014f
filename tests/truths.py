"""What a mock endpoint says of some of its requests."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.preloaded import GIVE_UP_S

if TYPE_CHECKING:
    from collections.abc import Collection

    from loadgen.mock_endpoint.process import MockProcess
    from loadgen.mock_endpoint.truth import Truth


def truth_of(mock: MockProcess, requests: Collection[str]) -> dict[str, Truth]:
    """Its record of each of these requests by their ids, once there is one: it comes after the answer."""
    give_up = time.monotonic() + GIVE_UP_S
    while True:
        records = {record.request_id: record for record in mock.truth() if record.request_id in requests}
        if len(records) == len(requests):
            return records
        assert time.monotonic() < give_up, f"{len(records)} of {len(requests)} requests have ended"
        time.sleep(0.01)
