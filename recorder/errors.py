"""Errors of the log and of its writers.

RecorderError
├── LogError             the file is not a log that this version reads
│   ├── NotALogError     missing, not SQLite, or not ours
│   └── NewerLogError    written by a later version
├── LogExistsError       there is a log already where one should be made
├── LogNotMadeError      the place where it should be made cannot be written to
├── BeingWrittenError    another process writes this run
├── OldLogError          written by an earlier version: to be read, not to be continued
├── LogGoneError         another process has moved, deleted or replaced it while it was written
│   └── LogCutError      another process has cut it short
├── EventError           an event that is not as docs/log.md describes it: it was not recorded
├── NotRecordingError    an event, but no active recorder
├── AlreadyRecordingError  a second active recorder in one process
└── WriterError          the log cannot be written any more (full disk, lost folder)
    └── WriterStalledError   the disk does not take what is written, and the wait for it is over
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


class LogGoneError(RecorderError):
    """The open log was moved, deleted or replaced."""


class LogCutError(LogGoneError):
    """A part of the log that is being written was cut off."""


class BeingWrittenError(RecorderError):
    """Another process is writing this run: a run has one writer."""


class OldLogError(RecorderError):
    """The log was written by an earlier version of this program, which cannot be continued."""


class EventError(RecorderError, ValueError):
    """An event violates docs/log.md: the event was not recorded, and recording can continue."""


class NotRecordingError(RecorderError):
    """An event came while no recorder was active."""


class AlreadyRecordingError(RecorderError):
    """A process has one active recorder, and this would be the second."""


class WriterError(RecorderError):
    """The log cannot be written any more: the disk is full, or the log is gone."""


class WriterStalledError(WriterError):
    """The disk stopped accepting writes for longer than the allowed wait."""
