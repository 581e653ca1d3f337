from textveil import Obfuscator
from textveil.testing import build_small_bundle
from textveil.testing.checks import ENTRIES, EXCLUDED, random_matrix


def test_a_small_bundle_can_be_used(tmp_path):
    bundle = build_small_bundle(tmp_path / "one")
    assert bundle.decompositions == ("words",)
    assert not bundle.has_prior("words")
    expressions = sum("_" in entry for entry in ENTRIES)  # words alone never write them
    assert len(bundle.vectors("words").writable) == len(ENTRIES) - len(EXCLUDED) - expressions
    assert Obfuscator(bundle, seed=1).obfuscate("good film", epsilon=9).outcome.value in ("obfuscated", "returned")
    assert build_small_bundle(tmp_path / "two", decomposition="mine", prior=True).has_prior("mine")
    assert (random_matrix(3) == random_matrix(3)).all()
