"""Mode `official`: the verdicts of LiveCodeBench's own evaluator, lcb_runner."""
