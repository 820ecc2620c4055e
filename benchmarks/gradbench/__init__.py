"""GradBench's evals on adgen: a module an eval, each with `FUNCTIONS` by GradBench's names."""
