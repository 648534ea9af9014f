"""What this machine can do as a client: found on a mock endpoint, kept, and held against plans."""
