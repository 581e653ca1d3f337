"""Settings: every choice about an obfuscator and its budget, in one object that all interfaces share."""

from __future__ import annotations

import dataclasses
import math
import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textveil.budget import Budget, BudgetArguments, Length, Level, check_level
from textveil.bundles.bundle import DEFAULT_BUNDLE, SHIPPED, Bundle
from textveil.draft import choose_draft_share
from textveil.errors import ParameterError
from textveil.methods.decomposition import DECOMPOSERS, Decomposer
from textveil.methods.distribution import DISTRIBUTORS, Distributor
from textveil.methods.mechanisms import MECHANISMS, Mechanism
from textveil.profiles import STRICT, Form, Profile, Stopwords, load_profile
from textveil.randomness import Randomness, build_randomness
from textveil.redaction import Screen, Treatment, check_treatment
from textveil.registry import Method, Registry, unknown_name

if TYPE_CHECKING:
    from textveil.ledger import Ledger

DECOMPOSITION = "pmi"
DISTRIBUTION = "uniform"
MECHANISM = "fluent"
"""The defaults follow our own study (docs/study.md)."""
SIMPLE_MECHANISM = "madlib"
"""The default where a language model is missing or out of place."""
AXES: Mapping[str, Registry[Any]] = {
    "decomposition": DECOMPOSERS,
    "distribution": DISTRIBUTORS,
    "mechanism": MECHANISMS,
}


def choose_decomposition(bundle: Bundle, profile: Profile) -> str:
    """The default decomposition: words alone if the bundle has nothing else, or if all else would cost a draft."""
    allowed = DECOMPOSITION in bundle.decompositions and not profile.public_allocation
    return DECOMPOSITION if allowed else "words"


def choose_mechanism(bundle: Bundle, decomposition: str, profile: Profile) -> str:
    """The default mechanism: that of the paper if the bundle has no language model, and under its profile."""
    allowed = bundle.has_prior(decomposition) and not profile.releases_unperturbed
    return MECHANISM if allowed else SIMPLE_MECHANISM


class OtherArguments(BudgetArguments, total=False):
    """The types of all settings but the bundle, for calls that take them as keywords."""

    decomposition: str | Decomposer | None
    decomposition_options: Mapping[str, Any] | None
    distribution: str | Distributor
    distribution_options: Mapping[str, Any] | None
    mechanism: str | Mechanism | None
    mechanism_options: Mapping[str, Any] | None
    profile: str
    stopwords: Stopwords | None
    form: Form | None
    keep_emoji: bool
    identifiers: Treatment | Screen | None
    largest_share: float | None
    draft_share: float | None
    seed: int | None
    ledger: Ledger | None


class Arguments(OtherArguments, total=False):
    """The types of all settings, for calls that take them as keywords. :class:`Settings` explains them."""

    bundle: Bundle | str | Path


@dataclass(frozen=True, repr=False)
class Settings:
    """The settings of an obfuscator, with its budget. A value that is not allowed is refused at once.

    ``None`` leaves the choice to the profile and the bundle; :meth:`complete` makes it.

    Args:
        bundle: A bundle, the name of one that ships with textveil, or a folder.
        decomposition: How texts are split into chunks: a name or a decomposer. By default ``pmi``, or ``words`` if the
            bundle has no vectors for it or the profile is ``proven``.
        decomposition_options: Options of a decomposition that is given by name, such as the tagger of ``pos``.
        distribution: How the budget is divided over words: a name or a distributor.
        distribution_options: Options of a distribution that is given by name, such as the model of ``attention``.
        mechanism: How chunks are perturbed: a name or a mechanism. By default ``fluent``, or ``madlib`` if the bundle
            has no language model or the profile is ``paper``.
        mechanism_options: Options of a mechanism that is given by name.
        profile: What happens to words that cannot be perturbed, and what may be claimed.
        stopwords: ``keep`` or ``perturb`` stopwords; by default the profile decides.
        form: ``plain`` computes case and punctuation from the released words, ``keep`` keeps those of the original, and
            ``bare`` writes only the words. By default ``plain``, or ``keep`` with the profile ``paper``.
        keep_emoji: Keep emoji between words. By default the profile ``strict`` drops them and all other symbols.
        identifiers: ``redact`` replaces the identifiers that Presidio finds (names, places, dates, numbers) by their
            kinds, such as ``<PERSON>``, before all other steps. ``perturb`` keeps none of their words. By default,
            identifiers are words like all others. A ``Screen`` finds identifiers in other ways.
        largest_share: The largest share of a chunk; the rest is not spent. By default it is the share at which half of
            the words return unchanged, computed from the bundle; infinity removes it. The profile ``paper`` has no
            largest share.
        draft_share: The part of a budget for a draft under the profile ``proven``. Chunks and scores are then computed
            from the draft. By default there is a draft only if a method reads the text.
        seed: Makes the noise repeatable, and so predictable. Leave it out to protect real texts.
        ledger: Records the budgets that documents spend over all releases, and refuses releases beyond a limit.
        epsilon: The budget of every document.
        epsilon_per_word: The budget per word, instead of ``epsilon``; kept stopwords do not count.
        level: The level of protection, instead of a number: ``high``, ``medium`` (the default) or ``low``.
        length: The words that ``epsilon_per_word`` is multiplied by: a text's ``own``, or the ``average`` of all texts,
            as in the paper. By default the profile decides.

    >>> Settings(mechanism="madlib", level="high")
    Settings(mechanism='madlib', level='high')
    """

    bundle: Bundle | str | Path = DEFAULT_BUNDLE
    _: KW_ONLY
    decomposition: str | Decomposer | None = None
    decomposition_options: Mapping[str, Any] | None = None
    distribution: str | Distributor = DISTRIBUTION
    distribution_options: Mapping[str, Any] | None = None
    mechanism: str | Mechanism | None = None
    mechanism_options: Mapping[str, Any] | None = None
    profile: str = STRICT.name
    stopwords: Stopwords | None = None
    form: Form | None = None
    keep_emoji: bool = False
    identifiers: Treatment | Screen | None = None
    largest_share: float | None = None
    draft_share: float | None = None
    seed: int | None = None
    ledger: Ledger | None = None
    epsilon: float | None = None
    epsilon_per_word: float | None = None
    level: Level | None = None
    length: Length | None = None

    def __post_init__(self) -> None:
        rules = self.rules
        for axis, registry in AXES.items():
            if (method := getattr(self, axis)) is not None:
                registry.choose(method)
            options = f"{axis}_options"
            object.__setattr__(self, options, dict(getattr(self, options) or {}))
        rules.choose_stopwords(self.stopwords)
        form = rules.choose_form(self.form)
        if self.keep_emoji and form != "keep":
            raise ParameterError(f"`keep_emoji` needs `form='keep'`: {form!r} writes nothing but words and sentences.")
        check_treatment(rules, self.identifiers)
        object.__setattr__(self, "largest_share", _check_share(self.largest_share))
        choose_draft_share(rules, self.draft_share, data_independent=True)
        self.build_randomness()
        check_level(self.level, self.epsilon, self.epsilon_per_word)
        if self.epsilon is not None or self.epsilon_per_word is not None:
            rules.choose_budget(Budget(self.epsilon, self.epsilon_per_word, self.length))

    @property
    def rules(self) -> Profile:
        """The profile, which has the rules."""
        return load_profile(self.profile)

    @property
    def budget(self) -> BudgetArguments:
        """The settings that are a budget; none of them is set where every call brings its own."""
        return {
            "epsilon": self.epsilon,
            "epsilon_per_word": self.epsilon_per_word,
            "level": self.level,
            "length": self.length,
        }

    def build_randomness(self) -> Randomness:
        """The source of noise: the operating system, a seed, or a ledger that repeats its answers."""
        if self.ledger is None or self.ledger.repeat == "fresh":
            return build_randomness(self.seed)
        if self.seed is not None:
            raise ParameterError("Set `seed` or `repeat='same'`, not both: each decides the noise.")
        return self.ledger.build_randomness()

    def replace(self, **changes: Any) -> Settings:
        """The same settings with others in the place of some."""
        return dataclasses.replace(self, **changes)

    def complete(self, bundle: Bundle | None = None) -> Settings:
        """The settings with every choice made that profile and bundle decide, except the largest share.

        Args:
            bundle: The bundle, if it is loaded already.
        """
        if bundle is None:
            bundle = self.bundle if isinstance(self.bundle, Bundle) else Bundle.load(self.bundle)
        rules, decomposition = self.rules, self.decomposition
        if decomposition is None:
            decomposition = choose_decomposition(bundle, rules)
        methods = DECOMPOSERS.choose(decomposition), DISTRIBUTORS.choose(self.distribution)
        return self.replace(
            bundle=bundle,
            decomposition=decomposition,
            mechanism=choose_mechanism(bundle, methods[0].name, rules) if self.mechanism is None else self.mechanism,
            stopwords=rules.choose_stopwords(self.stopwords),
            form=rules.choose_form(self.form),
            draft_share=choose_draft_share(
                rules, self.draft_share, data_independent=all(method.data_independent for method in methods)
            ),
        )

    def for_workers(self) -> Settings:
        """The settings without objects, so that another process can build the same. They have no seed and no ledger.

        Raises:
            ParameterError: A method or a screen was given as an object that has no name.
        """
        changes: dict[str, Any] = {"bundle": name_bundle(self.bundle), "seed": None, "ledger": None}
        for axis, registry in AXES.items():
            if isinstance(method := getattr(self, axis), Method):
                changes |= {axis: method.name, f"{axis}_options": _list_options(registry, method)}
        if isinstance(self.identifiers, Screen):
            changes["identifiers"] = self.identifiers.for_workers()
        return self.replace(**changes)

    def as_dict(self) -> dict[str, Any]:
        """All settings by name, as JSON can hold them, but without the ledger.

        Raises:
            ParameterError: A method or a screen was given as an object that has no name.
        """
        named = self.for_workers()
        return {**{name: getattr(named, name) for name in NAMES if name != "ledger"}, "seed": self.seed}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Settings:
        """The settings that :meth:`as_dict` returned. What is missing is as by default.

        >>> Settings.from_dict({"mechanism": "madlib"}) == Settings(mechanism="madlib")
        True
        """
        check_names(values, kind="setting")
        return cls(**values)

    def __repr__(self) -> str:
        given = ((each.name, getattr(self, each.name), each.default) for each in fields(self))
        return f"Settings({', '.join(f'{name}={value!r}' for name, value, usual in given if value not in (usual, {}))})"


NAMES = tuple(each.name for each in fields(Settings))
"""The names of all settings, with those of the budget."""
BUDGET_NAMES = tuple(BudgetArguments.__annotations__)
_DESCRIBED = re.compile(r"^ {8}(\w+): (.+(?:\n {12}.+)*)", re.MULTILINE)
HELP: Mapping[str, str] = dict.fromkeys(NAMES, "") | {
    name: " ".join(text.replace("``", "").split()) for name, text in _DESCRIBED.findall(Settings.__doc__ or "")
}
"""What every setting is for, as the docstring says it."""


def check_names(given: Mapping[str, Any], known: Collection[str] = NAMES, *, kind: str = "argument") -> None:
    """Refuse what is no setting, and name the nearest one."""
    for name in given:
        if name not in known:
            raise unknown_name(kind, name, known)


def split_budget(given: Mapping[str, Any]) -> tuple[dict[str, Any], BudgetArguments]:
    """Other settings, and those of the budget."""
    budget = {name: value for name, value in given.items() if name in BUDGET_NAMES}
    return {name: value for name, value in given.items() if name not in budget}, BudgetArguments(**budget)  # type: ignore[typeddict-item] # by name


def _check_share(wanted: float | None) -> float | None:
    if wanted is None:
        return None
    if isinstance(wanted, bool) or not isinstance(wanted, Real) or not wanted > 0:
        raise ParameterError(f"`largest_share` must be a positive number. Got {wanted!r} instead.")
    return float(wanted) if wanted <= sys.float_info.max else math.inf  # a huge int cannot be converted


def name_bundle(bundle: Bundle | str | Path) -> str:
    """The name of a bundle that ships with textveil, or the whole path of another one, whatever the current folder."""
    if isinstance(bundle, Bundle):
        bundle = bundle.folder
    elif bundle in Bundle.shipped() or not Path(bundle).exists():
        return str(bundle)
    path = Path(bundle)
    return path.name if path.parent == SHIPPED else str(path.resolve())


def _list_options(registry: Registry[Any], method: Method) -> dict[str, Any]:
    """The options with which a registered method can be built again."""
    if method.name not in registry or registry.load(method.name) is not type(method):
        raise ParameterError(
            f"Workers can only build methods that have a name. The {method.kind} {method.name!r} was given as an "
            "object. Register it and give its name, or leave out `executor` and `workers`."
        )
    return {name: getattr(method, name) for name in method.list_options()}
