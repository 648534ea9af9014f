"""The errors of the driver.

DriverError
├── SettingsError          settings that no session can be run with (also a ValueError)
│   ├── PlanError          two settings contradict each other, or one is out of its range
│   ├── ProfileError       a rate that cannot be read
│   ├── StagesError        a file of stages that cannot be used
│   ├── EndpointError      a URL or a header that cannot be used
│   ├── UnknownProtocolError  no protocol of this name
│   └── CannotAskError     a prompt that the protocol has no way to send
├── UnreachableError       no connection to the endpoint
├── RejectedError          the endpoint rejects the key or the model
├── WorkerLostError        a worker process ended before the session began
├── StoppedEarlyError      a user stopped the session before it began
├── NodeGoneError          a node does not answer any more: becomes a finding
├── RequestFailedError     ends one request: becomes an ERROR event
├── MalformedResponseError JSON that is not of the protocol (also a ValueError): fails a request
└── HeadTooLargeError      a head beyond the bounds (also an OSError): fails a request

`loadgen.sessions.errors` makes a UsageError (exit code 2) of SettingsError and RejectedError, a SetupError
(3) of UnreachableError and WorkerLostError, and an interrupt (130) of StoppedEarlyError. The last three
never leave the driver.
"""

from __future__ import annotations


class DriverError(Exception):
    """Anything that the driver raises."""


class SettingsError(DriverError, ValueError):
    """Invalid settings for a session; the message says the change to make."""


class PlanError(SettingsError):
    """Two settings contradict each other, or a setting is out of range."""


class ProfileError(SettingsError):
    """An unreadable or out-of-range rate; the message says the fault."""


class StagesError(SettingsError):
    """A file of stages cannot be used; the message names the file, the stage and the key."""


class EndpointError(SettingsError):
    """A URL or a header that cannot be used."""


class UnknownProtocolError(SettingsError):
    """The protocol does not exist; the message lists those that do."""


class CannotAskError(SettingsError):
    """A protocol cannot express a sample; the message has the reason and the remedy."""


class UnreachableError(DriverError):
    """No connection to the endpoint."""


class RejectedError(DriverError):
    """The endpoint is there, but rejects these settings: the key, or the model."""


class WorkerLostError(DriverError):
    """A worker ended before there was anything to measure; the message says how."""


class NodeGoneError(DriverError):
    """A node will never answer again; the message has the reason, without the node's name."""


class StoppedEarlyError(DriverError):
    """A user asked to stop before there was a session that could end in order."""


class RequestFailedError(DriverError):
    """Ends a request: carries the failure's name with the message."""

    def __init__(self, failure: str, message: str) -> None:
        super().__init__(message)
        self.failure = failure


class MalformedResponseError(DriverError, ValueError):
    """JSON, but not of the protocol's shape."""


class HeadTooLargeError(DriverError, OSError):
    """The socket has read more than `MAX_HEAD_BYTES` without the end of a head, and reads no more."""
