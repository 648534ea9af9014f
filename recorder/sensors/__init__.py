"""Sensors: readings next to a run, on the run's clock. Each sensor reads one source.

source               what it observes
host                 the client's machine: CPU, memory, network
server               the `/metrics` of the endpoint
nvml, amdsmi         GPUs of this host
dcgm, amd_exporter, intel_exporter   GPUs of other hosts
"""
