"""What can be wrong with a log, and with who writes it.

RecorderError
├── LogError             the file is not a log that this version reads
│   ├── NotALogError     missing, not SQLite, or not ours
│   └── NewerLogError    written by a later version
├── LogExistsError       there is a log already where one should be made
├── LogNotMadeError      the place where it should be made cannot be written to
├── NotRecordingError    an event, but no active recorder
├── AlreadyRecordingError  a second active recorder in one process
└── WriterError          the writer thread could not write (full disk, lost folder) or did not end
"""

from __future__ import annotations


class RecorderError(Exception):
    """Anything that the recorder raises."""


class LogError(RecorderError):
    """The file is not a log that this version reads."""


class NotALogError(LogError):
    """The file is missing, is not SQLite, or was not written by this program."""


class NewerLogError(LogError):
    """The log was written by a later version of this program."""


class LogExistsError(RecorderError):
    """There is a log already where one should be made."""


class LogNotMadeError(RecorderError):
    """The place where the log should be made cannot be written to."""


class NotRecordingError(RecorderError):
    """An event came while no recorder was active."""


class AlreadyRecordingError(RecorderError):
    """A process has one active recorder, and this would be the second."""


class WriterError(RecorderError):
    """The writer thread could not write, or did not end in time."""
