"""The frames of each protocol, one file a protocol: pure functions from contents to bytes."""
