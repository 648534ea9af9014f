"""Probes: small requests of one declared kind, sent during the load and reported by themselves."""
