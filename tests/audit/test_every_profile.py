"""Every profile with every mechanism is audited: small here, with a million draws among the slow tests."""

import pytest

from textveil.lab.audit import Verdict, audit_obfuscator, choose_pairs
from textveil.methods.mechanisms import MECHANISMS
from textveil.methods.mechanisms.base import NO_GUARANTEE
from textveil.obfuscator import Obfuscator
from textveil.profiles import PROFILES

COMBINATIONS = [
    (profile, mechanism)
    for profile in PROFILES
    for mechanism in MECHANISMS
    if PROFILES[profile].releases_unperturbed or MECHANISMS.load(mechanism).guarantee != NO_GUARANTEE
]
EPSILON = 1.0  # per word, and distances are 2 to 9: claims from 0 to 26
COVERED = {"strict": 15, "paper": 9, "proven": 16}


def build(bundle, profile, mechanism, **options):
    return Obfuscator(bundle, decomposition="words", mechanism=mechanism, profile=profile, seed=3, **options)


@pytest.mark.parametrize(("profile", "mechanism"), COMBINATIONS)
def test_no_claim_is_refuted(profile, mechanism, tiny_with_prior):
    found = audit_obfuscator(build(tiny_with_prior, profile, mechanism), epsilon_per_word=EPSILON, draws=160)
    verdicts = [finding.verdict for finding in found.findings]
    expected = Verdict.NO_CLAIM if MECHANISMS.load(mechanism).guarantee == NO_GUARANTEE else Verdict.NOT_REFUTED
    assert verdicts.count(expected) == COVERED[profile]
    assert set(verdicts) <= {expected, Verdict.NOT_NEIGHBORS}
    closed = hasattr(MECHANISMS.load(mechanism), "log_channel")
    for finding in found.findings:
        assert (finding.claim.exact is not None) == (closed and finding.verdict is expected)


@pytest.mark.parametrize("options", [{"cap": 1.5}, {"dimensions": 3}, {"dimensions": 3, "cap": 0.5}])
@pytest.mark.parametrize("mechanism", ["exponential", "fluent"])
def test_no_claim_is_refuted_with_a_cap_or_fewer_dimensions(mechanism, options, tiny_with_prior):
    obfuscator = build(tiny_with_prior, "proven", mechanism, mechanism_options=options)
    found = audit_obfuscator(obfuscator, epsilon_per_word=2.0, draws=160)
    assert not found.violations
    if "cap" in options:
        assert all(finding.claim.bound <= 2.0 * options["cap"] * 3 + 1e-9 for finding in found.findings)


def test_stopwords_that_are_perturbed_make_more_pairs_neighbors(tiny):
    obfuscator = build(tiny, "strict", "exponential", stopwords="perturb")
    found = audit_obfuscator(obfuscator, epsilon_per_word=EPSILON, draws=160)
    (finding,) = [finding for finding in found.findings if finding.pair.kind == "stopword and content word"]
    assert finding.verdict is Verdict.NOT_REFUTED


@pytest.mark.slow
@pytest.mark.parametrize(("profile", "mechanism"), COMBINATIONS)
def test_no_claim_is_refuted_by_a_million_draws(profile, mechanism, tiny_with_prior):
    form = "bare" if profile == "proven" else None  # an audit compares words; a million sentences take long to write
    obfuscator = build(tiny_with_prior, profile, mechanism, form=form)
    texts = {text for pair in choose_pairs(obfuscator.mechanism.space) for text in (pair.first, pair.second)}
    found = audit_obfuscator(obfuscator, epsilon_per_word=EPSILON, draws=1_000_000 // len(texts))
    assert found.draws * len(texts) > 990_000
    assert not found.violations
    assert max(finding.shown or 0.0 for finding in found.findings) > 2
