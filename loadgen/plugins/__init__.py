"""Plug-ins: each a folder with a manifest; nothing else imports from here, except by the registry."""
