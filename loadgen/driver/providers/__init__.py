"""Models of providers with other APIs, behind a local OpenAI-compatible server."""
