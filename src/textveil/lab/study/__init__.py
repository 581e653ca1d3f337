"""A study: one file that says what to compare, cells that run once, and results.

A study goes from its file to its results in these steps:

1. **Study file.** :func:`~textveil.lab.study.study.load_study` reads and checks the YAML file. The result is a
   ``StudyFile``: the path, its hash and a ``Study``.
2. **Data sets.** ``Experiment.read_datasets`` calls :func:`~textveil.lab.study.datasets.read_dataset` for each data
   set: rows are filtered, classified, sampled and cut, and stored in the study's folder. ``find_dataset`` finds a
   ``StudyDataset`` that was read before. A ``DatasetInfo`` describes it without its texts.
3. **Cells.** :func:`~textveil.lab.study.grid.expand` combines data sets, levels, methods and profiles. A ``Cell`` is
   one combination. Its id is a hash of everything that determines its texts.
4. **State.** :mod:`~textveil.lab.study.status` compares the cells with the files in the ``Store``. A ``CellState``
   says what a cell has, what it lacks and what failed.
5. **Plan.** ``Experiment.plan`` turns the states into tasks. A ``SharedTask`` computes something once for many cells:
   the scores of a distribution, or numbers of the originals. A ``CellTask`` makes and measures the texts of one cell.
6. **Run.** ``Experiment.run`` gives the tasks to an executor: first ``run_shared``, which returns a ``SharedDone``,
   then ``run_cell``, which returns a ``CellDone``. In each process a ``CellRunner`` holds the models.
7. **Records.** :func:`~textveil.lab.study.records.write_results` writes one row for every value of every cell.
8. **Report.** :func:`~textveil.lab.study.report.report_study` analyzes the records and writes a page.
"""

from textveil.lab.study.experiment import Experiment
from textveil.lab.study.grid import Cell
from textveil.lab.study.store import Store
from textveil.lab.study.study import Study, StudyFile, load_study

__all__ = ["Cell", "Experiment", "Store", "Study", "StudyFile", "load_study"]
