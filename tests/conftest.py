"""Bundles, texts and encoders that many tests share."""

from __future__ import annotations

import gc
import json
import lzma
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
import typer.testing
from hypothesis import settings
from rich.console import Console

from textveil.bundles.building import VectorTable, build_bundle
from textveil.bundles.bundle import Bundle
from textveil.errors import ResourceError
from textveil.execution import EXECUTORS
from textveil.execution.base import Executor
from textveil.resources import find
from textveil.testing.checks import ENTRIES, EXCLUDED, build_chain, random_matrix
from textveil.threads import limit_threads

SHARED = Path(os.environ.get("TEXTVEIL_DATASETS", Path(__file__).parents[2] / "shared/datasets"))
"""Real reviews, where they are at hand."""

MODELS = Path(os.environ.get("TEXTVEIL_MODELS", Path(__file__).parents[2] / "shared/models"))
"""Encoders, where they are at hand."""

# What make test installs, also where tests are run without make.
# A cache of figures that all test processes share; never the user's own.
if "PYTEST_XDIST_WORKER" not in os.environ or "textveil-cache-" not in os.environ.get("TEXTVEIL_CACHE", ""):
    os.environ["TEXTVEIL_CACHE"] = tempfile.mkdtemp(prefix="textveil-cache-")
os.environ.setdefault("TEXTVEIL_RESOURCES", str(Path(__file__).parents[1] / ".venv/resources"))

# A file is finished only when it is on disk. Tests write thousands of small files, and many of them would spend most of
# their time waiting for the disk. A folder in memory has no such wait; a whole run needs about 1 GB.
MEMORY = Path("/dev/shm")  # noqa: S108 # pytest creates its own folder there
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4 << 30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

# Test processes share the cores. A matrix product on several threads waits for those that have no core: a short text
# then takes many times as long. Tests about threads choose their number themselves.
if (processes := int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))) > 1:
    limit_threads(max(1, (os.cpu_count() or 1) // processes))

# Speed is measured by make bench; what is loaded on first use would look slow here.
settings.register_profile("textveil", deadline=None)
settings.load_profile("textveil")

# Training collects garbage each time. With thousands of tests and large libraries in memory, this takes a third of a
# second, unless it passes over what stays.
MANY_MODULES = 300
frozen = {"modules": 0}


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over all tests and modules."""
    freeze()


def pytest_runtest_teardown() -> None:
    """Let it pass over a large library that a test has imported, too."""
    if len(sys.modules) > frozen["modules"] + MANY_MODULES:
        freeze()


def freeze() -> None:
    gc.collect()
    gc.freeze()
    frozen["modules"] = len(sys.modules)


# The parser of the command line is built once per process, as for a user, and not each time a test runs a command.
typer.testing._get_command = cache(typer.testing._get_command)

BundleMaker = Callable[..., Bundle]
EncoderMaker = Callable[..., Path]
ExecutorMaker = Callable[..., Executor]


@pytest.fixture(scope="session")
def make_bundle(tmp_path_factory: pytest.TempPathFactory) -> BundleMaker:
    """Builds a bundle of random vectors for some entries."""

    def make(
        entries=ENTRIES,
        *,
        matrix=None,
        excluded=(),
        dimensions=12,
        decomposition="words",
        prior=None,
        **options,
    ) -> Bundle:
        folder = tmp_path_factory.mktemp("bundles") / "bundle"
        matrix = random_matrix(len(entries), dimensions) if matrix is None else matrix
        options = {"name": "tiny", "version": "1", "corpus": "none", "license": "MIT", "standardize": False, **options}
        return build_bundle(folder, {decomposition: VectorTable(entries, matrix, excluded, prior=prior)}, **options)

    return make


@pytest.fixture(scope="session")
def tiny(make_bundle: BundleMaker) -> Bundle:
    """Forty entries, two of them never written."""
    return make_bundle(excluded=EXCLUDED)


@pytest.fixture(scope="session")
def tiny_with_prior(make_bundle: BundleMaker) -> Bundle:
    """The tiny bundle with a language model: each entry is mostly followed by the next one."""
    return make_bundle(excluded=EXCLUDED, prior=build_chain(len(ENTRIES)))


@pytest.fixture
def copied_bundle(tiny: Bundle, tmp_path: Path) -> Path:
    """A copy of the tiny bundle that a test may damage."""
    return Path(shutil.copytree(tiny.folder, tmp_path / "copy"))


@pytest.fixture(scope="session")
def real_texts() -> list[str]:
    """A thousand reviews of two data sets."""
    if not SHARED.exists():
        pytest.skip("the shared data sets are not at hand")
    texts = []
    for name in ("imdb_test_4000", "scale_reviews"):
        with lzma.open(SHARED / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
            texts += [json.loads(line)["text"] for line in islice(lines, 500)]
    return texts


@pytest.fixture(scope="session")
def minilm() -> Path:
    try:
        return find("all-minilm-l6-v2")
    except ResourceError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def gte_small() -> Path:
    if not (MODELS / "gte-small").exists():
        pytest.skip("gte-small is not at hand")
    return MODELS / "gte-small"


@pytest.fixture(scope="session")
def make_encoder(minilm: Path, tmp_path_factory: pytest.TempPathFactory) -> EncoderMaker:
    """Writes a tiny encoder of a family of transformers, with MiniLM's tokenizer or another."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")

    def make(family: str = "Bert", *, tokenizer=None, weights=None, **options) -> Path:
        sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 8}
        if family == "T5":
            sizes = {"d_model": 16, "d_kv": 8, "d_ff": 8, "num_layers": 2, "num_heads": 2}
        tokens = dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id"), 0)
        config = getattr(transformers, f"{family}Config")(
            **{"vocab_size": 30522, "initializer_range": 0.5, **tokens, **sizes, **options}
        )
        torch.manual_seed(5)
        model = transformers.AutoModel.from_config(config)
        if weights is not None:
            model.get_input_embeddings().weight.data.fill_(weights)
        folder = tmp_path_factory.mktemp("encoders") / family
        model.save_pretrained(folder)
        (tokenizer or transformers.AutoTokenizer.from_pretrained(minilm)).save_pretrained(folder)
        return folder

    return make


@pytest.fixture(scope="session")
def ray_address() -> Iterator[str]:
    """A Ray cluster of two nodes on this machine, started once: that takes longer than most tests with it.

    It has four cores, so that two executors with two workers each can have actors at the same time. A test that starts
    Ray without this cluster does so in another process (``tests/execution/test_ray_cluster.py`` says why).
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    from ray.cluster_utils import Cluster

    lazy = {"prestart_worker_first_driver": False}  # only actors need processes
    head = {"num_cpus": 2, "include_dashboard": False, "_system_config": lazy}
    nodes = Cluster(initialize_head=True, head_node_args=head)
    nodes.add_node(num_cpus=2)
    nodes.wait_for_nodes()
    yield nodes.address
    nodes.shutdown()


@pytest.fixture(scope="session")
def open_executor(request: pytest.FixtureRequest) -> ExecutorMaker:
    """Opens an executor by its name; Ray's is connected to the cluster that all tests share."""

    def open_one(name: str, workers: int | None = None) -> Executor:
        return EXECUTORS.load(name)(workers, request.getfixturevalue("ray_address") if name == "ray" else None)

    return open_one


def pytest_runtest_setup() -> None:
    """Rich reads the width of a terminal from the environment that was there when it was imported: show it this one."""
    Console._environ = os.environ
