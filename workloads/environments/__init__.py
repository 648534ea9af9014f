"""Worlds that agents act in by tools: state as JSON, and functions over it."""
