"""Gradients by adgen on a CUDA device beside those of other tools: `python -m benchmarks.gpu`.

| file | what is in it |
|---|---|
| `tasks.py` | which workloads, in which sizes, and what they have to do at least |
| `device.py` | memory and time of a device, or of the emulator's |
| `driver.py` | CUDA's driver, for that |
| `peaks.py` | what a device could reach |
| `players.py` | a workload on adgen and on the peers |
| `suite.py` | the comparison, then turns of all |
| `report.py` | the table |
"""
