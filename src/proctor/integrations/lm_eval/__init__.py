"""For lm-eval: benchmarks as tasks, whose YAML is in `tasks`; `proctor lm-eval` prints where.

lm-eval finds them by `--include_path`. Extra `lm-eval`.
"""
