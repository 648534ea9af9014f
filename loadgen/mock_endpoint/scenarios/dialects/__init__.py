"""The frames of each protocol, one file a protocol: pure functions from what is said to bytes."""
