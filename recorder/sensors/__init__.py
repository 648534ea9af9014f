"""Sensors: readings next to a run, on the run's clock. Each sensor reads one source.

source       what it observes
host         the client's machine: CPU, memory, network
server       the `/metrics` of the endpoint
nvml, dcgm   GPUs of this host, and of others
"""
