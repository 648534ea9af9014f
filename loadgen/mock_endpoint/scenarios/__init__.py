"""Scripted servers: every shape of a stream, every fault, and the right outcome for a client.

A scenario is a value: a script of bytes and times, and what a client must see. `catalog` has all of them;
docs/scenarios.md shows them.
"""
