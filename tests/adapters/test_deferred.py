from __future__ import annotations

import multiprocessing
import pickle

import pytest

from textveil import Obfuscator
from textveil.adapters.columns import DeferredObfuscator
from textveil.errors import BudgetError, ParameterError

SPAWN = multiprocessing.get_context("spawn")


def obfuscate(deferred: DeferredObfuscator) -> list[str]:
    return [result.outcome.value for result in deferred.obfuscate_all(["good plot", None])]


def test_another_process_builds_its_own(settings):
    deferred = DeferredObfuscator({**settings, "epsilon": 20})
    with SPAWN.Pool(1) as pool:
        assert pool.apply(obfuscate, [deferred])[1] == "missing"


def test_only_settings_travel_and_models_are_kept(settings):
    deferred = DeferredObfuscator({**settings, "epsilon": 20})
    state = pickle.dumps(deferred)
    assert len(state) < 2000
    first, second = pickle.loads(state), pickle.loads(state)  # noqa: S301 # our own
    assert first.obfuscator is second.obfuscator  # as if a worker got them with two tasks
    assert first.obfuscator is not deferred.obfuscator


def test_two_of_them_do_not_share(settings):
    states = [pickle.dumps(DeferredObfuscator({**settings, "epsilon": 20})) for _ in range(2)]
    first, second = [pickle.loads(state) for state in states]  # noqa: S301 # our own
    assert first.obfuscator is not second.obfuscator


def test_a_seed_is_for_one_process(settings):
    deferred = DeferredObfuscator({**settings, "seed": 1, "epsilon": 20})
    expected = [result.text for result in Obfuscator(**settings, seed=1).obfuscate_all(["good plot"], epsilon=20)]
    assert [result.text for result in deferred.obfuscate_all(["good plot"])] == expected
    with SPAWN.Pool(1) as pool, pytest.raises(ParameterError, match="With `seed`, all processes would draw the same"):
        pool.apply(obfuscate, [deferred])
    with pytest.raises(ParameterError, match="With `seed`"):
        pickle.loads(pickle.dumps(deferred)).ready()  # noqa: S301 # a copy would begin the noise again


def test_an_obfuscator_stays_where_it_is(obfuscator):
    deferred = DeferredObfuscator({"epsilon": 20}, obfuscator)
    assert deferred.obfuscator is obfuscator
    with pytest.raises(ParameterError, match="Give its settings instead of `obfuscator`"):
        pickle.dumps(deferred)


def test_wrong_settings_are_found_at_once(settings):
    with pytest.raises(ParameterError, match="no argument 'sed'. Did you mean 'seed'?"):
        DeferredObfuscator({"sed": 1})
    with pytest.raises(BudgetError, match="must be positive"):
        DeferredObfuscator({**settings, "epsilon": -1})
    with pytest.raises(BudgetError, match="`length='average'` needs all texts at once"):
        DeferredObfuscator({**settings, "epsilon_per_word": 1, "length": "average"})
    with pytest.raises(BudgetError, match="Set `length='own'`, or `epsilon`"):
        DeferredObfuscator({**settings, "profile": "paper", "epsilon_per_word": 1})  # its default is the average
