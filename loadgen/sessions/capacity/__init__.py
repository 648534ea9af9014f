"""The capacity of a machine as a client: what was measured, and where it is stored."""
