"""The scripts of the project: training, measuring, drawing, and releases."""
