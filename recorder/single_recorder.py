"""The claim of the one active recorder of a process, from construction until close."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, ClassVar, Self

from recorder.errors import AlreadyRecordingError

if TYPE_CHECKING:
    from recorder.session import Session


class Active:
    """The state that the active recorder of a process owns, and no second recorder can.

    Attributes:
        LIVE: The recorder of this process; None without one.
        CLAIM: Held while that changes, or while its writer is started.
        session: What the recorder records.
    """

    LIVE: ClassVar[Self | None] = None
    CLAIM: ClassVar[threading.RLock] = threading.RLock()
    session: Session

    def claim(self) -> None:
        """Become the recorder of this process.

        Raises:
            AlreadyRecordingError: It has another one.
        """
        kind = type(self)
        with kind.CLAIM:
            live = kind.LIVE
            if live is not None and live is not self:
                session_id = live.session.session_id
                raise AlreadyRecordingError(
                    f"a recorder is active in the process, of session {session_id}; close that recorder first"
                )
            kind.LIVE = self

    def release(self) -> None:
        """Release the claim on this process, if this recorder holds the claim."""
        if type(self).LIVE is self:
            type(self).LIVE = None
