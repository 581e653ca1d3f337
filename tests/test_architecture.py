"""The rules of the code that a reader cannot see: imports point one way, and the public names are these."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import textveil
from textveil import errors
from textveil.lab.metrics import METRICS
from textveil.lab.metrics.classifiers import CLASSIFIERS
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS
from textveil.methods.mechanisms import MECHANISMS

SOURCE = Path(textveil.__file__).parent

LAYERS = {
    "foundations": [
        "version",
        "errors",
        "extras",
        "registry",
        "randomness",
        "progress",
        "threads",
        "proportions",
        "storage",
        "execution",
    ],
    "knowledge": ["resources", "text", "models", "bundles"],
    "methods": ["methods"],
    "promises": [
        "budget",
        "profiles",
        "outcomes",
        "redaction",
        "draft",
        "certificate",
        "results",
        "ledger",
        "summary",
        "deniability",
        "planning",
        "output",
    ],
    "obfuscation": ["settings", "tables", "jobs", "obfuscator"],
    "lab": ["lab"],
    "interfaces": ["facade", "adapters", "testing", "client", "pandas", "polars", "service", "cli"],
}
"""From the bottom up. A package may import what lies below its layer, and what stands before it in its own."""
LEVEL = {
    package: level for level, package in enumerate(package for packages in LAYERS.values() for package in packages)
}
AXES = {"decomposition": DECOMPOSERS, "distribution": DISTRIBUTORS, "mechanisms": MECHANISMS}


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def imports_of(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            names += (
                [f"{node.module}.{alias.name}" for alias in node.names]
                if node.module == "textveil"
                else [str(node.module)]
            )
    return [name.removeprefix("textveil.") for name in names if name.startswith("textveil")]


def package(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def is_other_method(path: Path, name: str) -> bool:
    """Whether a module holds a method of the same axis that is not a base of the one in ``path``."""
    registry = AXES[path.parent.name]
    methods = {registry.load(method).__module__: registry.load(method) for method in registry}
    imported, own = methods.get(f"textveil.{name}"), methods.get(f"textveil.methods.{path.parent.name}.{path.stem}")
    return imported is not None and not (own is not None and issubclass(own, imported))


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_one_way(path: Path) -> None:
    here = package(path)
    for name in imports_of(path):
        there = name.partition(".")[0]
        if there == here:
            if path.parent.name in AXES and path.name != "__init__.py":
                assert not is_other_method(path, name), f"{path.name} imports its sibling {name}"
            continue
        assert LEVEL[there] < LEVEL[here], f"{path} imports {name}, which lies above or beside it"


LAB = ["corpus", "metrics", "attacks", "compare", "report", "calibration", "study", "audit"]
"""The packages of the lab; each imports only those before it."""


def test_the_packages_of_the_lab_import_one_way() -> None:
    for path in (SOURCE / "lab").rglob("*.py"):
        here = path.relative_to(SOURCE / "lab").parts[0].removesuffix(".py")
        for name in imports_of(path):
            if name.startswith("lab.") and here in LAB:
                assert LAB.index(name.split(".")[1]) <= LAB.index(here), f"{path} imports {name}"


def test_metrics_and_classifiers_do_not_know_each_other() -> None:
    for registry in (METRICS, CLASSIFIERS):
        packages = {registry.load(name).__module__.removeprefix("textveil.") for name in registry}
        assert len(packages) == len(list(registry))  # one file each
        for name in packages:
            known = imports_of(SOURCE / f"{name.replace('.', '/')}.py")
            shared = {"lab.metrics.overlap"}  # it also finds the unchanged words that others count
            assert not (packages - shared) & set(known), f"{name} imports another of its kind"


def test_every_module_says_in_one_sentence_what_lives_there() -> None:
    for path in [*modules(), SOURCE / "__init__.py"]:
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        assert docstring, path
        assert docstring.splitlines()[0].rstrip().endswith((".", ":", '"', "`")), path


def test_public_names() -> None:
    assert sorted(textveil.__all__) == [
        "Budget",
        "Bundle",
        "Certificate",
        "Chunk",
        "Dataset",
        "Document",
        "DocumentOutcome",
        "Evaluator",
        "Experiment",
        "JobReport",
        "Ledger",
        "ObfuscatedChunk",
        "Obfuscation",
        "Obfuscator",
        "Outcome",
        "Screen",
        "Settings",
        "__version__",
        "analyze",
        "audit",
        "calibrate",
        "compare",
        "describe_level",
        "evaluate",
        "list_bundles",
        "list_decompositions",
        "list_distributions",
        "list_levels",
        "list_mechanisms",
        "list_metrics",
        "list_profiles",
        "obfuscate",
        "obfuscate_file",
        "prepare",
        "run_study",
    ]
    for name in textveil.__all__:
        assert hasattr(textveil, name)


PUBLIC = {
    "bundles": "Bundle DEFAULT_BUNDLE ImportedVectors LexiconTable Manifest STORAGES Storage UNKNOWN VECTOR_FORMATS "
    "VectorTable Vectors build_bundle reading_vectors write_vectors",
    "methods.decomposition": "DECOMPOSERS Decomposer",
    "methods.distribution": "DISTRIBUTORS Distributor Score",
    "methods.mechanisms": "MECHANISMS Mechanism Request",
    "execution": "EXECUTORS Executor usable_cores",
    "adapters": "datasets pandas polars presidio ray sklearn spacy spark",
    "jobs": "FileJob JobOptions JobReport StreamJob check_free",
    "resources": "CheckedFile Installation Location RESOURCES Resource find install install_command locate own_folder "
    "verify",
    "tables": "FORMATS FileSource Layout OUTCOME_COLUMN Result Rows Source StreamSource TEXT_COLUMN Table Writer "
    "detect_format list_columns read_records",
    "lab.audit": "Audit Auditee Claim Claims Command Finding Pair Verdict audit audit_obfuscator choose_pairs "
    "claim_by_distance claim_per_word",
    "lab.calibration": "Calibration TARGETS Target calibrate",
    "lab.metrics": "CLASSIFIERS Case Classifier Dataset Evaluation Evaluator Interval METRICS METRIC_COLUMNS "
    "Measurement Metric MetricColumn Need list_metrics relative_gain",
    "lab.metrics.classifiers": "CLASSIFIERS Classifier Fitted",
    "lab.study": "Cell Experiment Store Study StudyFile load_study",
    "testing": "Check build_small_bundle check_classifier check_decomposer check_distributor check_mechanism "
    "check_metric list_checks parametrize_with_checks",
}
"""What every package offers to users; all else may change without notice."""


def test_every_package_says_what_is_public() -> None:
    packages = {path.parent.relative_to(SOURCE) for path in SOURCE.rglob("__init__.py")} - {Path()}
    offered = {
        ".".join(package.parts): importlib.import_module(".".join(("textveil", *package.parts))) for package in packages
    }
    assert {package: sorted(module.__all__) for package, module in offered.items() if module.__all__} == {
        package: names.split() for package, names in PUBLIC.items()
    }
    for package, module in offered.items():
        assert all(hasattr(module, name) for name in module.__all__), package


def test_every_error_is_in_the_tree() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    for kind in kinds:
        assert f" {kind.__name__} " in f" {errors.__doc__} ".replace("\n", " "), f"{kind.__name__} is not in the tree"


def test_starting_loads_nothing_heavy() -> None:
    heavy = set(
        "accelerate captum datasets fastapi gensim gguf httpx huggingface_hub keybert matplotlib nltk "
        "nupunkt pandas pip polars pydantic presidio_analyzer pyarrow pyspark ray scipy sentence_transformers sklearn "
        "spacy starlette statsmodels torch transformers uvicorn yake yaml".split()
    )
    code = "import sys, textveil.cli.main; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not heavy & set(loaded)


def test_no_source_uses_what_is_forbidden() -> None:
    for path in modules():
        text = path.read_text(encoding="utf-8")
        assert "np.random.default_rng" not in text, path
        assert "np.random.seed" not in text, path
        if path.name != "randomness.py":
            assert "Generator(" not in text, f"{path} makes a generator"
        assert "import pickle" not in text, path
