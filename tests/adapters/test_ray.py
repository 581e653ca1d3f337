from __future__ import annotations

import numpy as np
import pytest

from tests.adapters.conftest import TEXTS
from textveil import Obfuscator
from textveil.adapters.ray import ActorObfuscator
from textveil.errors import ParameterError

BATCH = {"text": np.array(["good plot", None], dtype=object), "stars": np.array([1, 5])}


def test_a_batch_keeps_its_other_columns(settings):
    done = ActorObfuscator(epsilon=20, **settings)(BATCH)
    assert list(done) == ["text", "stars", "textveil_outcome"]
    assert done["stars"] is BATCH["stars"]
    assert done["text"].dtype == object
    assert done["text"][1] is None
    assert done["textveil_outcome"][1] == "missing"
    assert BATCH["text"][0] == "good plot"


def test_a_seed_is_refused(settings):
    with pytest.raises(ParameterError, match="With `seed`, all processes would draw the same noise"):
        ActorObfuscator(epsilon=20, seed=1, **settings)
    with pytest.raises(ParameterError, match="With `seed`"):
        ActorObfuscator(epsilon=20, obfuscator=Obfuscator(**settings, seed=1))


def test_another_batch_format_is_refused(settings):
    with pytest.raises(ParameterError, match="A batch must be a dictionary of arrays. Got list instead"):
        ActorObfuscator(epsilon=20, **settings)([BATCH])  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def cluster(ray_address):
    import ray

    ray.init(address=ray_address, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # Ray's own
def test_actors_obfuscate_a_data_set(cluster, settings):
    from ray import data

    data.DataContext.get_current().enable_progress_bars = False
    rows = [{"id": number, "title": text, "text": text or None} for number, text in enumerate(TEXTS * 4)]
    dataset = data.from_items(rows).map_batches(
        ActorObfuscator,
        fn_constructor_args=(["title", "text"],),
        fn_constructor_kwargs={"epsilon": 20, **settings},
        concurrency=1,
        batch_size=5,
    )
    done = sorted(dataset.take_all(), key=lambda row: row["id"])
    assert [row["id"] for row in done] == list(range(20))
    assert done[4]["text"] is None
    assert (done[4]["textveil_outcome_text"], done[4]["textveil_outcome_title"]) == ("missing", "no_words")
    assert sum(row["title"] == before["title"] for row, before in zip(done, rows, strict=True)) < 20
    drawn = {row["title"] for row in done if row["id"] % 5 == 0}
    assert len(drawn) > 1  # equal texts get noise of their own
