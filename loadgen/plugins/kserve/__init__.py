"""Triton and KServe v2: models of text over HTTP, and streams over gRPC."""
