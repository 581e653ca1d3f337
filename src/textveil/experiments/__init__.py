"""A whole study: a file that says what is compared, cells that are run once, and results."""

from textveil.experiments.experiment import Experiment
from textveil.experiments.grid import Cell
from textveil.experiments.store import Store
from textveil.experiments.study import Study, StudyFile, load_study

__all__ = ["Cell", "Experiment", "Store", "Study", "StudyFile", "load_study"]
