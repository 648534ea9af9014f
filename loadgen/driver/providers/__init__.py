"""Models of providers that have their own APIs, behind an OpenAI-compatible server on this machine."""
