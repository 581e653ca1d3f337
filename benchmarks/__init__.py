"""Benchmarks of speed, memory and start-up, as ratios of programs that do the same work in one run."""
