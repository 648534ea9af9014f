"""The capacity of this machine as a client: measured on a mock endpoint, stored, and compared with plans."""
