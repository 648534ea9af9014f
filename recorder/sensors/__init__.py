"""Sensors: what is read on the side of a run, on its clock. Each reads one source.

source       what it observes
host         the client's machine: CPU, memory, network
server       the `/metrics` of the endpoint
nvml, dcgm   GPUs of this host, and of others
"""
