"""The checks of methods find every breach of a contract, and nothing else."""

import itertools

import numpy as np
import pytest

from textveil import Obfuscator
from textveil.errors import ContractError, ParameterError
from textveil.methods.decomposition import Decomposer
from textveil.methods.distribution import Distributor
from textveil.methods.distribution.uniform import Uniform
from textveil.methods.mechanisms.exponential import Exponential
from textveil.registry import Plugin
from textveil.testing import build_small_bundle, check_distributor, list_checks, methods, parametrize_with_checks
from textveil.testing.checks import (
    ENTRIES,
    EXCLUDED,
    Check,
    check_name,
    check_options,
    check_record,
    random_matrix,
    run_check,
)
from textveil.testing.methods import MechanismCase, list_decomposer_checks
from textveil.text.documents import Chunk


def test_a_breach_names_the_method():
    run_check(Uniform(), iter, [(1, "nothing is wrong")])
    with pytest.raises(ContractError, match="The distribution 'uniform' breaks its contract: it sings"):
        run_check(Uniform(), iter, [(1, "nothing is wrong"), (0, "it sings")])
    assert issubclass(ContractError, AssertionError)


def test_a_check_is_called_and_named():
    seen = []
    check = Check("uniform", "it is even", lambda: seen.append(1))
    check()
    assert (seen, str(check)) == ([1], "uniform: it is even")


def test_a_version_must_be_one():
    class Vague(Uniform):
        versions = {"numpy": "new"}  # noqa: RUF012

    run_check(Uniform(), check_record, Uniform())
    with pytest.raises(ContractError, match="does not begin with a number"):
        run_check(Vague(), check_record, Vague())


def test_options_must_be_declared():
    class Loose(Uniform):
        options = ("color",)

    class Careless(Uniform):
        def __init__(self, **options):
            pass

    assert "textveil.registry.Option" in Loose.find_breach()
    run_check(Uniform(), check_options, Uniform(), Uniform)
    with pytest.raises(ContractError, match="it takes an option that it does not declare"):
        run_check(Careless(), check_options, Careless(), Careless)
    assert Uniform.find_breach() is None


def test_a_name_is_given_once():
    class Other(Uniform):
        pass

    run_check(Uniform(), check_name, Uniform(), [], {"uniform": Uniform})
    with pytest.raises(ContractError, match="textveil has a method with this name"):
        run_check(Other(), check_name, Other(), [], {"uniform": Uniform})
    taken = Plugin("textveil.distributions", "uniform", "elsewhere:Uniform", "other", "1")
    with pytest.raises(ContractError, match="another package"):
        run_check(Uniform(), check_name, Uniform(), [taken], {})


@parametrize_with_checks([Uniform])
def test_checks_are_tests(check):
    check()


def test_a_suite_stops_at_the_first_breach():
    class Odd(Uniform):
        name = "odd"

        def score(self, documents):
            return []

    with pytest.raises(ContractError, match="does not answer every document"):
        check_distributor(Odd)


def test_only_methods_have_checks():
    assert str(list_checks(Uniform)[0]) == "uniform: every word has a score"
    for wrong in (int, "uniform"):
        with pytest.raises(ParameterError, match="`method` must be a subclass"):
            list_checks(wrong)


def test_a_small_bundle_can_be_used(tmp_path):
    bundle = build_small_bundle(tmp_path / "one")
    assert bundle.decompositions == ("words",)
    assert not bundle.has_prior("words")
    expressions = sum("_" in entry for entry in ENTRIES)  # words alone never write them
    assert len(bundle.vectors("words").writable) == len(ENTRIES) - len(EXCLUDED) - expressions
    assert Obfuscator(bundle, seed=1).obfuscate("good film", epsilon=9).outcome.value in ("obfuscated", "returned")
    assert build_small_bundle(tmp_path / "two", decomposition="mine", prior=True).has_prior("mine")
    assert (random_matrix(3) == random_matrix(3)).all()


class Whole(Decomposer):
    """One chunk for everything."""

    name = "whole"

    def decompose(self, documents):
        return [[Chunk(0, len(document.words))] for document in documents]


class Half(Decomposer):
    """Only the first half of the words."""

    name = "half"

    def decompose(self, documents):
        return [[Chunk(n, n + 1) for n in range(len(document.words) // 2)] for document in documents]


class Pairs(Decomposer):
    """Two words each."""

    name = "pairs"

    def decompose(self, documents):
        edges = [[*range(0, len(document.words), 2), len(document.words)] for document in documents]
        return [list(itertools.starmap(Chunk, itertools.pairwise(found))) for found in edges]


class Boastful(Half):
    """Looks at words, and says that it does not."""

    name = "boastful"
    data_independent = True

    def decompose(self, documents):
        return [[Chunk(0, 1 + len(d.text) % 2)] if d.words else [] for d in documents]


@pytest.mark.parametrize(
    ("method", "breaches"),
    [
        (Whole, {"a chunk is empty", "a chunk reaches across the end of a sentence"}),
        (Pairs, {"a chunk has a stopword at its edge"}),
        (Half, {"the last chunk does not end with the last word"}),
        (Boastful, {"it says `data_independent`, and its chunks depend on the words"}),
    ],
)
def test_breaches_of_decomposers_are_found(tiny, method, breaches):
    found = set()
    for check in list_decomposer_checks(method, tiny):
        try:
            check()
        except (ContractError, IndexError) as error:
            found.add(str(error).partition("contract: ")[2].rstrip("."))
    assert found >= breaches


class Moody(Distributor):
    """Changes its mind."""

    name = "moody"
    data_independent = True

    def __init__(self, **options):
        super().__init__(**options)
        self.numbers = itertools.count(1)

    def score(self, documents):
        return [[float(next(self.numbers)) for _ in document.words] for document in documents]


class Sociable(Distributor):
    """Counts the documents."""

    name = "sociable"

    def score(self, documents):
        return [[float(len(documents))] * len(document.words) for document in documents]


class Short(Distributor):
    """Forgets a word."""

    name = "short"

    def score(self, documents):
        return [[float("nan")] * max(0, len(document.words) - 1) for document in documents]


def test_breaches_of_distributors_are_found():
    with pytest.raises(ContractError, match="more or fewer scores"):
        run_check(Short(), methods.check_every_word_has_a_score, Short())
    with pytest.raises(ContractError, match="its scores change"):
        run_check(Moody(), methods.check_scores_do_not_depend_on_the_batch, Moody())
    with pytest.raises(ContractError, match="depend on the others"):
        run_check(Sociable(), methods.check_scores_do_not_depend_on_the_batch, Sociable())
    with pytest.raises(ContractError, match="data_independent"):
        run_check(Moody(), methods.check_scores_are_data_independent, Moody())


def test_scores_must_be_finite():
    class Endless(Moody):
        def score(self, documents):
            return [[float("inf")] * len(document.words) for document in documents]

    with pytest.raises(ContractError, match="neither a finite float nor None"):
        run_check(Endless(), methods.check_every_word_has_a_score, Endless())


class Spendthrift(Exponential):
    """Spends ten times its share."""

    def _weigh_distances(self, points, shares, draft, measured=None):
        return super()._weigh_distances(points, shares * 10, draft, measured)


class Frozen(Exponential):
    """Always answers the same."""

    def perturb(self, requests):
        return [np.full(len(request.rows), self.space.writable[0]) for request in requests]


class Unwritable(Exponential):
    """Gives back what must not be written."""

    def perturb(self, requests):
        return [request.rows for request in requests]


@pytest.mark.parametrize(
    ("method", "check", "breach"),
    [
        (Spendthrift, methods.check_no_log_ratio_passes_the_bound, "a log-ratio passes share"),
        (Spendthrift, methods.check_no_ratio_refutes_the_bound, "draws refute"),
        (Frozen, methods.check_the_stream_decides_the_answer, "another stream of noise gives the same answer"),
        (Frozen, methods.check_without_a_share_the_input_does_not_matter, "few entries"),
        (Frozen, methods.check_a_huge_share_keeps_a_word, "a huge share does not keep"),
        (Unwritable, methods.check_answers_are_writable, "not writable"),
        (Unwritable, methods.check_without_a_share_the_input_does_not_matter, "depends on the input"),
    ],
)
def test_breaches_of_mechanisms_are_found(tiny, method, check, breach):
    with pytest.raises(ContractError, match=breach):
        case = MechanismCase(method, tiny.vectors("words"))
        run_check(case.build(), check, case)


def test_a_mechanism_without_a_guarantee_has_fewer_checks():
    class Modest(Exponential):
        name = "modest"
        guarantee = "none"

    assert len(methods.list_mechanism_checks(Modest)) < len(methods.list_mechanism_checks(Exponential))
