"""Arrival times of bytes: stamped by the kernel rather than at Python's read.

On Linux a socket asks for receive stamps (SO_TIMESTAMPING, software; see the kernel's
networking/timestamping.rst), and `recvmsg` carries the stamp of the last segment in the read. Elsewhere the
stamp is the read's time.

The kernel stamps in CLOCK_REALTIME; everything here is CLOCK_MONOTONIC. The offset between the two is sampled
again every 100 ms and whenever a stamp looks implausible, at most once a millisecond, so a clock that is
slewed or stepped does no harm.
"""

from __future__ import annotations

import select
import socket
import struct
import time
from typing import TYPE_CHECKING, Any, Final, Literal

from loadgen.driver.system.linux import LINUX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_SOL_SOCKET: Final = int(socket.SOL_SOCKET)
_SO_TIMESTAMPING: Final = 37
_SOFTWARE_STAMPS: Final = 1 << 3 | 1 << 4 | 1 << 11  # of arrivals, reported, without the data of uploads
_STAMPS: Final = struct.Struct("@qqqqqq")
"""`struct scm_timestamping`: three timespecs, of which the first is the software stamp."""

_FIRST_STAMP: Final = struct.Struct("@qq")

_SEGMENTS: Final = struct.Struct("@I")
_SEGMENTS_AT: Final = 152
"""Where `tcpi_data_segs_in` is in `struct tcp_info` (linux/tcp.h, since Linux 4.6)."""

_ANCILLARY: Final = socket.CMSG_SPACE(_STAMPS.size)
_RESAMPLE_NS: Final = 100_000_000
_PLAUSIBLE_NS: Final = 1_000_000
_SECOND: Final = 1_000_000_000
_TRIES: Final = 100
_PAUSE_S: Final = 0.001


class WallOffset:
    """The difference between CLOCK_REALTIME and CLOCK_MONOTONIC, kept fresh."""

    def __init__(
        self,
        wall_clock: Callable[[], int] = time.time_ns,
        monotonic_clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._wall_clock = wall_clock
        self._monotonic_clock = monotonic_clock
        self._offset_ns = 0
        self._sampled_ns = 0
        self._sample()

    def monotonic(self, wall_ns: int, now_ns: int) -> int:
        """Convert a recent moment of CLOCK_REALTIME; never later than `now_ns`.

        The clock may have been stepped before that moment or after it: of the offsets before and after, the
        one that holds gives the moment, and the other one gives the future or a longer past.
        """
        before_ns = self._offset_ns
        age_ns = now_ns - wall_ns + before_ns
        sample_age_ns = now_ns - self._sampled_ns
        if 0 <= age_ns < _PLAUSIBLE_NS and sample_age_ns <= _RESAMPLE_NS:
            return wall_ns - before_ns
        if sample_age_ns >= _PLAUSIBLE_NS:
            # A busy client reads all bytes late: to look at the clocks for each would make it later still.
            self._sample()
        earlier_ns, later_ns = sorted((wall_ns - before_ns, wall_ns - self._offset_ns))
        if later_ns <= now_ns:
            return later_ns
        return min(earlier_ns, now_ns)

    def set_back_ns(self) -> int:
        """By how much the wall clock was set back since the last sample: stamps may be too early by that."""
        before_ns = self._offset_ns
        self._sample()
        return max(0, before_ns - self._offset_ns)

    def _sample(self) -> None:
        """Read the wall clock between two readings of the monotonic one; keep the tightest of three."""
        tightest = None
        for _ in range(3):
            before = self._monotonic_clock()
            wall = self._wall_clock()
            after = self._monotonic_clock()
            if tightest is None or after - before < tightest:
                tightest = after - before
                self._offset_ns = wall - (before + after) // 2
                self._sampled_ns = after


_wall_offset = WallOffset()


def clock_set_back_ns() -> int:
    """By how much the stamp of the last read may be too early, because the wall clock was set back."""
    return _wall_offset.set_back_ns()


class StampingSocket(socket.socket):
    """A TCP socket with the arrival time of the last read.

    Works under asyncio, with TLS too: its transports read through `recv_into`.
    """

    arrival_ns: int = 0  #: arrival of the last segment of the last read, ns of CLOCK_MONOTONIC
    _poll: select.poll | None = None

    def stamp_arrivals(self) -> bool:
        """Request stamps from the kernel; whether the kernel accepts."""
        if not LINUX:
            return False
        try:
            self.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPING, _SOFTWARE_STAMPS)
        except OSError:
            return False
        return True

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        """Read as `socket.recv_into` does, and keep the stamp."""
        if nbytes:
            buffer = memoryview(buffer)[:nbytes]
        return self.receive([buffer], flags)

    def receive(self, buffers: Sequence[Any], flags: int = 0) -> int:
        """Read into buffers, and keep the stamp; return the number of bytes, 0 at the connection's end."""
        count, ancillary, _, _ = self.recvmsg_into(buffers, _ANCILLARY, flags)
        now_ns = time.monotonic_ns()
        self.arrival_ns = (_arrival(ancillary, now_ns) if ancillary else None) or now_ns
        return count

    def is_quiet(self) -> bool:
        """Whether there is nothing to read, not even the end; asking costs a third of a read."""
        if self._poll is None:
            self._poll = select.poll()
            self._poll.register(self, select.POLLIN)
        return not self._poll.poll(0)

    def segments(self) -> int | None:
        """The number of data segments that the kernel has received, before GRO; None if unknown."""
        return self._tcp_info(_SEGMENTS, _SEGMENTS_AT)

    def _tcp_info(self, field: struct.Struct, offset: int) -> int | None:
        if not LINUX:
            return None
        try:
            info = self.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, offset + field.size)
        except OSError:
            return None
        return int(field.unpack_from(info, offset)[0]) if len(info) >= offset + field.size else None


def _arrival(ancillary: Iterable[tuple[int, int, bytes]], now_ns: int) -> int | None:
    """The kernel's stamp in the ancillary data of the read, on our clock."""
    for level, kind, data in ancillary:
        if kind == _SO_TIMESTAMPING and level == _SOL_SOCKET and len(data) >= _STAMPS.size:
            seconds, nanoseconds = _FIRST_STAMP.unpack_from(data)
            if seconds:
                return _wall_offset.monotonic(seconds * _SECOND + nanoseconds, now_ns)
    return None


def timestamp_source() -> Literal["kernel", "read"]:
    """Determine, on a loopback connection, the source of arrival stamps on this machine."""
    with socket.socket() as listener, StampingSocket() as receiver:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        if not receiver.stamp_arrivals():
            return "read"
        receiver.settimeout(1.0)
        receiver.connect(listener.getsockname())
        accepted, _ = listener.accept()
        with accepted:
            # The first socket to ask switches stamping on for the whole machine, which takes a moment.
            for _ in range(_TRIES):
                accepted.sendall(b"?")
                _, ancillary, _, _ = receiver.recvmsg(1, _ANCILLARY)
                if _arrival(ancillary, time.monotonic_ns()) is not None:
                    return "kernel"
                time.sleep(_PAUSE_S)
    return "read"
