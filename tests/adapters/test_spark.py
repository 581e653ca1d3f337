from __future__ import annotations

import os
import shutil
import sys

import pytest

from tests.adapters.conftest import TEXTS
from textveil.adapters.spark import build_udf
from textveil.errors import BudgetError, MissingExtraError, ParameterError


@pytest.fixture(scope="module")
def spark():
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs a Java runtime")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "2").config("spark.driver.host", "127.0.0.1").getOrCreate()
    yield session
    session.stop()


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # Spark's own
def test_a_column_is_obfuscated(spark, settings, tmp_path):
    obfuscate = build_udf(epsilon=20, **settings)
    assert not obfuscate.deterministic
    rows = [(number, text or None) for number, text in enumerate(TEXTS * 4)]
    frame = spark.createDataFrame(rows, "id int, text string").repartition(2)
    frame.withColumn("text", obfuscate("text")).write.parquet(str(tmp_path / "out"))
    done = sorted(spark.read.parquet(str(tmp_path / "out")).collect())
    assert [row.id for row in done] == list(range(20))
    assert [row.text is None for row in done] == [text is None for _, text in rows]
    assert done[3].text == "of the"
    assert len({row.text for row in done if row.id % 5 == 0}) > 1  # equal texts get noise of their own


def test_mistakes_are_found_before_a_job_starts(settings):
    pytest.importorskip("pyspark")
    with pytest.raises(ParameterError, match="With `seed`, all processes would draw the same noise"):
        build_udf(epsilon=20, seed=1, **settings)
    with pytest.raises(ParameterError, match="no argument 'sed'"):
        build_udf(epsilon=20, sed=1)
    with pytest.raises(BudgetError, match="needs all texts at once"):
        build_udf(epsilon_per_word=20, length="average", **settings)


def test_the_extra_is_named_where_spark_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql.functions", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'textveil\[spark\]'"):
        build_udf(epsilon=20)
