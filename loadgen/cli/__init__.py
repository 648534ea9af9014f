"""The front door: parse, wire, print."""
