"""Servers that misbehave to order: every shape of a stream, every fault, and what is right to make of it.

A scenario is a value: a script of bytes and times, and what a client must see. `catalog` has all of them;
docs/scenarios.md shows them.
"""
