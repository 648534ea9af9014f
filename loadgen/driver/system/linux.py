"""Linux-specific features: the one place for differences between platforms.

Everything works on Linux and on macOS; on Linux it is exact at full speed.

| what                                  | Linux                         | elsewhere                       |
|---------------------------------------|-------------------------------|---------------------------------|
| `client.arrival`: when bytes came     | stamped by the kernel         | the time of the read            |
| `client.arrival`: sent in vain?       | TCP_INFO knows, sent again    | fails as `reset`                |
| `client.ready`: who has bytes         | one epoll for all connections | asyncio's selector              |
| `clock`: issuing at a moment          | a timerfd                     | the loop's timer, then yielding |
| `own_health`: waiting for a processor | schedstat in /proc            | unknown                         |
| `workers`: processors to use          | the affinity mask             | all there are                   |
| `sessions.cluster`: a node's priority | set for each thread           | set for the process             |
| `workers.shared_counter`: memory      | a memfd                       | a temporary file                |
| `mock_endpoint.poller`: waiting       | epoll and a timerfd           | `selectors`                     |

A log says who stamped: `timestamp_source` in its environment is `kernel` or `read`.
"""

from __future__ import annotations

import sys
from typing import Final

LINUX: Final = sys.platform == "linux"
