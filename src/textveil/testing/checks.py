"""Checks: statements about a method, the first of which that is not true is a ``ContractError``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from textveil.bundles.building import VectorTable, build_bundle
from textveil.bundles.bundle import Bundle
from textveil.bundles.prior import Ngrams, PriorTable, compress_prior
from textveil.bundles.vectors import Matrix
from textveil.errors import ContractError, ParameterError
from textveil.randomness import SeededRandomness
from textveil.registry import Method, Plugin, Registry

ENTRIES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi "
    "psi omega good bad film story plot actor scene music the and was of green_tea new_york"
).split()
EXCLUDED = ("sigma", "tau")
"""Entries that are known, and never written."""
DIMENSIONS = 12


def random_matrix(entries: int, dimensions: int = DIMENSIONS, seed: int = 3) -> Matrix:
    """Random vectors, the same ones each time."""
    generator = SeededRandomness(seed).stream(0)
    matrix: Matrix = generator.standard_normal((entries, dimensions)).astype(np.float32)
    return matrix


def build_chain(entries: int, follows: float = 0.9) -> PriorTable:
    """A language model in which each entry is mostly followed by the next one."""
    pairs = np.arange(entries) * entries + (np.arange(entries) + 1) % entries
    ngrams = Ngrams(np.sort(pairs), np.full(entries, np.log(follows)))
    return PriorTable(compress_prior(np.full(entries, -np.log(entries)), [ngrams]))


def build_small_bundle(folder: Path, *, decomposition: str = "words", prior: bool = False) -> Bundle:
    """Write the small bundle into a folder, and open it.

    Args:
        folder: A folder that does not exist.
        decomposition: The decomposition that the vectors are for, such as the one of a plugin.
        prior: Whether it has a language model.
    """
    table = VectorTable(
        ENTRIES, random_matrix(len(ENTRIES)), EXCLUDED, prior=build_chain(len(ENTRIES)) if prior else None
    )
    return build_bundle(
        folder, {decomposition: table}, name="small", version="1", corpus="none", license="MIT", standardize=False
    )


@dataclass(frozen=True, slots=True)
class Check:
    """A check of a method. Calling it runs it.

    Attributes:
        method: The name of the method.
        statement: What must be true, in a few words.
        run: Runs the check.
    """

    method: str
    statement: str
    run: Callable[[], None]

    def __str__(self) -> str:
        return f"{self.method}: {self.statement}"

    def __call__(self) -> None:
        """Run the check.

        Raises:
            ContractError: The method does not keep the contract.
        """
        self.run()


Statements: TypeAlias = Iterator[tuple[object, str]]
"""What must be true, each with what is wrong if it is not, in a few words."""


def run_check(method: Method, check: Callable[..., Statements], *arguments: Any) -> None:
    """Run a check of a method, which fails with the first statement that is not true."""
    for holds, breach in check(*arguments):
        if not holds:
            raise ContractError(f"The {method.kind} {method.name!r} breaks its contract: {breach}.")


def check_record(method: Method) -> Statements:
    """The record of a certificate has the name, and versions that are numbers."""
    yield type(method).find_breach() is None, str(type(method).find_breach())
    yield method.as_dict()["name"] == method.name, "its record has another name"
    yield method.description.startswith(method.name), "its description does not begin with its name"
    numbers = [str(version)[:1].isdigit() for version in method.software.values()]
    yield all(numbers), "a version of its software does not begin with a number"


def check_options(method: Method, build: Callable[..., Method]) -> Statements:
    """An option that there is not is refused, and every default is a valid value."""
    try:
        build(no_such_option=1)
    except ParameterError as error:
        yield "no_such_option" in str(error), "the error for an unknown option does not name it"
    else:
        yield False, "it takes an option that it does not declare"
    for option in type(method).list_options().values():
        option.check(option.default, of=method.name)


def check_name(method: Method, plugins: Iterable[Plugin], own: Mapping[str, type[Method]]) -> Statements:
    """The name leads to this class: no other class of its kind has it."""
    others = {plugin.target for plugin in plugins if plugin.name == method.name}
    target = f"{type(method).__module__}:{type(method).__qualname__}"
    yield others <= {target}, "another package offers a method with this name"
    yield own.get(method.name, type(method)) is type(method), "textveil has a method with this name"


def list_of(method: Method, checks: Iterable[Callable[..., Statements]], *arguments: Any) -> list[Check]:
    """Checks of a method with these arguments. Their statements are the names of the functions."""
    return [
        Check(
            method.name,
            check.__name__.removeprefix("check_").replace("_", " "),
            partial(run_check, method, check, *arguments),
        )
        for check in checks
    ]


def list_common(method: Method, build: Callable[..., Method], registry: Registry[Any]) -> list[Check]:
    """The checks that all axes have in common.

    Args:
        method: The method.
        build: Builds it with further options.
        registry: The methods of its axis.
    """
    own = {name: registry.load(name) for name in registry}
    return [
        *list_of(method, [check_record], method),
        *list_of(method, [check_options], method, build),
        *list_of(method, [check_name], method, registry.list_plugins(), own),
    ]
