"""The upload of a large request: the time at which the server had its last byte.

The kernel stamps when the last byte left this machine and when it was acknowledged. A receiver may delay an
acknowledgment by 40 ms or send it with the response (RFC 9293, 3.8.6.3), so one that comes late by the
connection's round-trip time does not count: the byte then arrived within a round trip after it left.
"""

from __future__ import annotations

import socket
import struct
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client.memory_bounds import UPLOAD_BYTES
from loadgen.driver.system.linux import LINUX

if TYPE_CHECKING:
    from loadgen.driver.client.arrival import StampingSocket


OBSERVED_BYTES: Final = UPLOAD_BYTES if LINUX else sys.maxsize
"""The size from which on connections without compiled code observe an upload."""

_LATE_NS: Final = 1_000_000
_MOST_ROUND_NS: Final = 10_000_000_000
"""Longer round-trip times mean that the kernel has none."""


def uploaded(size: int, begun_ns: int, left_ns: int, acknowledged_ns: int, round_ns: int) -> dict[str, Any]:
    """The members of a payload that describe an upload, as `recorder.payloads.Response` has them.

    Args:
        size: The bytes of the request with its head.
        begun_ns: When the first byte was handed to the kernel.
        left_ns: When the last byte left the machine; 0 for unknown, as for `acknowledged_ns`.
        acknowledged_ns: When the last byte was acknowledged.
        round_ns: The least round-trip time of the connection.
    """
    data: dict[str, Any] = {"request_bytes": size, "upload_begun_ns": begun_ns}
    if not acknowledged_ns:
        return data
    round_ns = round_ns if round_ns < _MOST_ROUND_NS else 0
    data["uploaded_ns"] = acknowledged_ns
    if left_ns:
        if acknowledged_ns - left_ns > 2 * round_ns + _LATE_NS:
            data["uploaded_ns"] = left_ns + round_ns
        data |= {"uploaded_low_ns": left_ns, "uploaded_high_ns": acknowledged_ns}
    return data


_SO_TIMESTAMPING: Final = 37
_TX_SOFTWARE_AND_ACK: Final = struct.pack("@I", 1 << 1 | 1 << 9)
_STAMP: Final = struct.Struct("@qq")
_EXTENDED_ERROR: Final = struct.Struct("@IBBBBII")
"""`struct sock_extended_err`, whose member `ee_info` names the kind of a stamp."""
_LEFT, _ACKNOWLEDGED = 0, 2
_MIN_RTT: Final = struct.Struct("@I")
_MIN_RTT_AT: Final = 148
"""Where `tcpi_min_rtt` is in `struct tcp_info` (linux/tcp.h, since Linux 4.6)."""


class ObservedUpload:
    """A large request on a connection without compiled code."""

    def __init__(self, sock: StampingSocket, size: int) -> None:
        self._sock = sock
        self._size = self._unsent = size
        self._begun_ns = time.monotonic_ns()
        self._stamps = {_LEFT: 0, _ACKNOWLEDGED: 0}

    def send(self, data: bytes | memoryview) -> int:
        """Send as `socket.send`; the kernel stamps the last byte, which goes by itself."""
        if len(data) < self._unsent or not self._unsent:
            return self._sock.send(data)
        data = memoryview(data)
        sent = self._sock.send(data[:-1]) if len(data) > 1 else 0
        if sent == len(data) - 1:
            asked = [(socket.SOL_SOCKET, _SO_TIMESTAMPING, _TX_SOFTWARE_AND_ACK)]
            try:
                sent += self._sock.sendmsg([data[-1:]], asked)
            except BlockingIOError:
                if not sent:
                    raise
        self._unsent = max(0, self._unsent - sent)
        return sent

    def read_stamps(self) -> None:
        """Take the kernel's stamps from the socket's error queue."""
        offset_ns = time.time_ns() - time.monotonic_ns()
        with suppress(OSError):
            while True:
                _, ancillary, _, _ = self._sock.recvmsg(0, 256, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
                parts = {kind: data for _, kind, data in ancillary}
                seconds, nanoseconds = _STAMP.unpack_from(parts.pop(_SO_TIMESTAMPING))
                at_ns = seconds * 1_000_000_000 + nanoseconds - offset_ns
                kinds = (_EXTENDED_ERROR.unpack_from(data)[5] for data in parts.values())
                if at_ns >= self._begun_ns:
                    self._stamps.update((kind, at_ns) for kind in kinds if kind in self._stamps)

    def payload(self) -> dict[str, Any]:
        """The members of a payload that describe the upload; see `uploaded`."""
        self.read_stamps()
        round_us = 0
        with suppress(OSError, struct.error):
            info = self._sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _MIN_RTT_AT + _MIN_RTT.size)
            (round_us,) = _MIN_RTT.unpack_from(info, _MIN_RTT_AT)
        stamps = self._stamps[_LEFT], self._stamps[_ACKNOWLEDGED]
        return uploaded(self._size, self._begun_ns, *stamps, round_us * 1000)
