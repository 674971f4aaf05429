"""What every door shares: admission, jobs that can be called off, runs, judgements, sessions."""
