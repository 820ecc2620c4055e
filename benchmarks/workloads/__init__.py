"""A module a workload, each with `WORKLOADS` by name."""
