"""A module a peer: `calls(workload, inputs)`, or None where it has no form of the workload."""
