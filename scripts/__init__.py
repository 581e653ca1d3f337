"""The tools of the project that users do not need: training, measuring, drawing, documentation and releases."""
