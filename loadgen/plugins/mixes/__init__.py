"""Requests to several models or LoRA adapters of one server, by weights."""
