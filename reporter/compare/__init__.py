"""Runs beside each other: what differs, by how much, and whether chance alone may have done it."""
