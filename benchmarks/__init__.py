"""Speed, memory and start-up, measured as ratios in one run on the same work."""
