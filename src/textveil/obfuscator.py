"""The Obfuscator: a bundle, the three axes and a profile, applied to texts and files."""

from __future__ import annotations

import hmac
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import count
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import randomgen

from textveil.budget import LEVEL, Budget, BudgetArguments, check_level, find_rate
from textveil.bundles.bundle import DEFAULT_BUNDLE, Bundle
from textveil.bundles.vectors import RowNumbers, measure_distances
from textveil.certificate import Terms, Versions
from textveil.deniability import describe_deniability
from textveil.draft import refuse_draft
from textveil.errors import BudgetError, ParameterError, ProfileError
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS
from textveil.methods.mechanisms import MECHANISMS, Mechanism, Request
from textveil.methods.mechanisms.base import NO_GUARANTEE
from textveil.methods.mechanisms.returns import LARGEST_RATE, SMALLEST_RATE, draw_entries, find_share
from textveil.output import Writer, finish_all
from textveil.planning import Plan, Planner
from textveil.progress import Progress, ignore_progress
from textveil.randomness import KeyedRandomness, Randomness, Streams, SystemRandomness
from textveil.redaction import Screen
from textveil.registry import Method
from textveil.results import Obfuscation
from textveil.settings import OtherArguments, Settings
from textveil.tables import OUTCOME_COLUMN, TEXT_COLUMN
from textveil.text.batches import BATCH_SIZE, batch_texts, check_batch_size
from textveil.version import __version__

if TYPE_CHECKING:
    from textveil.execution import Executor
    from textveil.jobs import JobReport
    from textveil.ledger import Account, Ledger
    from textveil.profiles import Profile


class Obfuscator:
    """Obfuscates texts under differential privacy.

    Args:
        bundle: A bundle, the name of one that ships with textveil, or a folder; or all settings in one object.
        settings: The other :class:`~textveil.settings.Settings`, which explains them.

    >>> result = Obfuscator(seed=7, largest_share=math.inf).obfuscate("The tea was lovely.", epsilon=1000)
    >>> result.text, result.outcome.value
    ('The tea was lovely.', 'returned')
    >>> [(chunk.original, chunk.outcome.value) for chunk in result.chunks]
    [('The', 'kept_stopword'), ('tea', 'perturbed'), ('was', 'kept_stopword'), ('lovely', 'perturbed')]
    """

    def __init__(
        self, bundle: Settings | Bundle | str | Path = DEFAULT_BUNDLE, **settings: Unpack[OtherArguments]
    ) -> None:
        given = bundle.replace(**settings) if isinstance(bundle, Settings) else Settings(bundle, **settings)
        chosen = given.complete()
        self.bundle: Bundle = chosen.bundle  # type: ignore[assignment] # complete
        self.profile = chosen.rules
        self.ledger = chosen.ledger
        self.randomness = chosen.build_randomness()
        self.stopwords = self.profile.choose_stopwords(chosen.stopwords)
        self.draft_share = chosen.draft_share
        wanted = chosen.identifiers
        self._screen = Screen(wanted) if isinstance(wanted, str) else wanted
        self._decomposer = DECOMPOSERS.build(
            DECOMPOSERS.choose(chosen.decomposition or ""), self.bundle, **(chosen.decomposition_options or {})
        )
        self._distributor = DISTRIBUTORS.build(
            DISTRIBUTORS.choose(chosen.distribution), **(chosen.distribution_options or {})
        )
        self._vectors = self.bundle.vectors(self._decomposer.name)
        self.mechanism: Mechanism = self._build_mechanism(chosen.mechanism or "", chosen.mechanism_options or {})
        if self.ledger is not None:
            _check_accountable(self.ledger, self.profile, self.mechanism)
        self._writer = Writer(self.profile.choose_form(chosen.form), self.profile.guards_form, chosen.keep_emoji)
        self.largest_share = chosen.largest_share or math.inf
        if chosen.largest_share is None and self.profile.caps_shares:
            self.largest_share = self.find_share(LARGEST_RATE)
        self.settings = chosen.replace(largest_share=self.largest_share)
        """The settings, with every choice made that profile and bundle decide."""
        self.planner = Planner(
            self._decomposer,
            self._distributor,
            self.mechanism,
            profile=self.profile,
            stopwords=self.stopwords,
            largest_share=self.largest_share,
            draft_share=self.draft_share,
            spelling=self.bundle.spelling(self._decomposer.name),
            screen=self._screen,
        )
        self._documents = count()
        self._streams = Streams()
        self.terms = self._state_terms()

    def _build_mechanism(self, mechanism: str | Mechanism, options: Mapping[str, Any]) -> Mechanism:
        chosen, decomposition = MECHANISMS.choose(mechanism), self._decomposer.name
        if chosen.guarantee == NO_GUARANTEE and not self.profile.releases_unperturbed:
            raise ProfileError(
                f"The mechanism {chosen.name!r} has no guarantee. It is here for comparison, with `profile='paper'`."
            )
        with_prior = not isinstance(chosen, Mechanism) and chosen.uses_prior
        parts = [self._vectors, self.bundle.prior(decomposition)] if with_prior else [self._vectors]
        built = MECHANISMS.build(chosen, *parts, **options)
        if built.vectors is not self._vectors:
            raise ParameterError(
                f"The `mechanism` was built on other vectors than those of the bundle for {decomposition!r}. "
                f"Build it with bundle.vectors({decomposition!r}), or give its name."
            )
        return built

    def __repr__(self) -> str:
        axes = ", ".join(method.description for method in (self._decomposer, self._distributor, self.mechanism))
        return f"Obfuscator({self.bundle.manifest.name!r}, {axes}, profile {self.profile.name!r})"

    def find_share(self, rate: float) -> float:
        """The share at which words return at a rate, such as 0.2 for every fifth word.

        It is found by simulation on the words of the bundle, by their frequency, once per bundle and mechanism.
        """
        if isinstance(rate, bool) or not isinstance(rate, Real) or not 0 < rate < 1:
            raise ParameterError(f"`rate` must be greater than 0 and less than 1. Got {rate!r} instead.")
        rate = float(rate)
        found = self._find_figure(lambda: {"share": find_share(self.mechanism, rate, self._draw())}, "share", rate)
        return float(found["share"])

    def _draw(self) -> RowNumbers:
        """Words of the bundle by their frequency."""
        return draw_entries(self.mechanism, self.bundle.counts(self._decomposer.name))

    def _find_figure(self, compute: Callable[[], dict[str, Any]], name: str, *at: Any) -> Mapping[str, Any]:
        """What holds for the mechanism and the words of the bundle, whatever the texts: computed once and cached."""
        key = json.dumps([name, self.mechanism.as_dict(), *at], sort_keys=True)
        return self.bundle.find_figures(self._decomposer.name, key, compute)

    def add_deniability(self, budget: Budget) -> None:
        """State the deniability of public words in all certificates from now on, at the shares that a budget allows.

        The words are those of the bundle, by their frequency, so no text is revealed. The figures are cached.

        Raises:
            ParameterError: Texts are drafted first, so that a word is perturbed twice.
        """
        refuse_draft(self.draft_share, "Deniability")
        shares = {meaning: min(share, self.largest_share) for meaning, share in budget.list_shares().items()}
        if math.isfinite(self.largest_share):
            shares.setdefault("largest", self.largest_share)
        found = self._find_figure(
            lambda: describe_deniability(self.mechanism, self._draw(), shares), "deniability", shares
        )
        self.terms = replace(self.terms, deniability=found)

    def add_calibration(self, summary: Mapping[str, Any]) -> None:
        """State the calibration that decided the budget, in all certificates from now on."""
        self.terms = replace(self.terms, calibration=summary)

    def for_run(self, key: bytes) -> Obfuscator:
        """The obfuscator for a run that may be resumed.

        With a ledger, its noise is derived from the key of the run. Texts that were recorded, but not saved before an
        interruption, then get the same answers again, and so are not charged twice.
        """
        if self.ledger is None or not isinstance(self.randomness, SystemRandomness):
            return self
        resumable = copy(self)
        resumable.randomness = KeyedRandomness(hmac.digest(key, b"textveil noise of a run", "sha256"))
        return resumable

    def for_workers(self) -> Callable[[], Obfuscator]:
        """Builds the same obfuscator in another process. It has no ledger: whoever starts the workers charges it.

        Fresh noise has no state, so every process draws its own from its system.

        Raises:
            ParameterError: A method was given as an object. Another process can only build those that have a name.
        """
        return partial(_rebuild, self.settings.for_workers(), self.randomness)

    def with_seed(self, seed: int) -> Obfuscator:
        """The same obfuscator with predictable noise, which its certificates state. It shares all models.

        Raises:
            ParameterError: The seed is not a whole number, or a ledger decides the noise.
        """
        seeded = copy(self)
        seeded.settings = self.settings.replace(seed=seed)
        seeded.randomness = seeded.settings.build_randomness()
        seeded._documents = count()
        seeded.terms = replace(self.terms, randomness=seeded.randomness.as_dict())
        return seeded

    def plan(self, text: str, budget: Budget) -> tuple[Plan, Request]:
        """What is to become of the chunks of a text, and what the mechanism is asked for. No noise is drawn.

        Raises:
            ParameterError: Chunks and shares are computed from a draft, so they depend on noise.
        """
        if self.draft_share is not None:
            raise ParameterError("With `draft_share`, chunks and shares depend on noise. There is no plan without it.")
        plans, requests = self.planner.ask([text], self.profile.choose_budget(budget), [self.randomness.stream(0)])
        return plans[0], requests[0]

    def __call__(self, texts: Iterable[str | None], **budget: Unpack[BudgetArguments]) -> list[Obfuscation]:
        """Obfuscate many texts at once: one result per text, in order. See :meth:`obfuscate_all`."""
        return list(self.obfuscate_all(texts, **budget))

    transform = __call__

    def obfuscate(self, text: str, **budget: Unpack[BudgetArguments]) -> Obfuscation:
        """Obfuscate one text with the budget ``epsilon``, or ``epsilon_per_word`` times its number of words.

        Kept stopwords do not count. Without a number, a ``level`` of protection decides, by default ``medium``.

        Raises:
            SpentBudgetError: The ledger does not allow another release of this text.
        """
        if not isinstance(text, str):
            raise ParameterError(f"A text must be a string. Got {type(text).__name__} instead.{_point_to_other(text)}")
        return next(self.obfuscate_all([text], budget=self.build_budget(**budget))).released()

    def obfuscate_all(
        self,
        texts: Iterable[str | None],
        *,
        budget: Budget | None = None,
        batch_size: int = BATCH_SIZE,
        first_document: int | None = None,
        **given: Unpack[BudgetArguments],
    ) -> Iterator[Obfuscation]:
        """Obfuscate many texts: one result per text, in order, as they are ready.

        Args:
            texts: Any iterable, read a batch at a time. ``None``, NaN and ``pandas.NA`` are missing texts; they get a
                result, too.
            budget: The budget of every single text in one object, instead of the arguments below.
            batch_size: The number of texts to work on together. With a seed, results do not depend on it.
            first_document: The number of the first text, which with a seed selects its noise. By default the texts of
                an Obfuscator are numbered on from 0.
            given: The budget; see :class:`~textveil.budget.BudgetArguments`. By default that of the settings.
        """
        if budget is not None and any(value is not None for value in given.values()):
            raise BudgetError("Set `budget`, or `epsilon` and the like, not both.")
        chosen = self.build_budget(**given) if budget is None else self.profile.choose_budget(budget)
        check_batch_size(batch_size)
        if isinstance(texts, str | bytes | Mapping) or hasattr(texts, "columns") or not _is_iterable(texts):
            raise ParameterError(
                "`texts` must be several texts: a list, a column of a table, or another iterable of strings. "
                f"Got {type(texts).__name__} instead.{_point_to_other(texts)}"
            )
        if hasattr(texts, "to_pylist"):  # of Arrow, whose values are no strings
            texts = texts.to_pylist()
        if chosen.needs_average:
            texts = list(texts)
            chosen = chosen.resolve(text for text in texts if isinstance(text, str))
        if first_document is not None and first_document < 0:
            raise ParameterError(f"`first_document` must be 0 or more. Got {first_document} instead.")
        numbers = self._documents if first_document is None else count(first_document)
        return self._obfuscate_batches(texts, chosen, batch_size, numbers)

    def build_budget(
        self,
        epsilon: float | None = None,
        epsilon_per_word: float | None = None,
        length: str | None = None,
        level: str | None = None,
    ) -> Budget:
        """A budget that the profile allows; the error for a wrong one says what this bundle supports.

        Without a number, that of the settings decides, and else a level of protection: the epsilon per word at which a
        stated share of the bundle's words return.
        """
        if epsilon is None and epsilon_per_word is None and level is None:
            own = self.settings
            epsilon, epsilon_per_word, level = own.epsilon, own.epsilon_per_word, own.level
            length = length or own.length
        check_level(level, epsilon, epsilon_per_word)
        if epsilon is None and epsilon_per_word is None:
            epsilon_per_word = self.find_share(find_rate(level or LEVEL))
        try:
            return self.profile.choose_budget(Budget(epsilon, epsilon_per_word, length))  # type: ignore[arg-type] # checked
        except BudgetError as error:
            low, high = self.find_share(SMALLEST_RATE), self.find_share(LARGEST_RATE)
            raise BudgetError(
                f"{error} With this bundle, the level high has {low:.3g} per word, and low has {high:.3g}."
            ) from error

    def obfuscate_file(
        self,
        source: str | Path,
        target: str | Path,
        *,
        column: str | Sequence[str] = TEXT_COLUMN,
        drop_columns: str | Sequence[str] = (),
        keep_columns: str | Sequence[str] | None = None,
        outcome_column: str | None = OUTCOME_COLUMN,
        format: str | None = None,  # noqa: A002 # what users call it
        certificate: str | Path | None = None,
        batch_size: int = BATCH_SIZE,
        resume: bool = False,
        overwrite: bool = False,
        executor: str | Executor | None = None,
        workers: int | None = None,
        address: str | None = None,
        progress: Progress = ignore_progress,
        **budget: Unpack[BudgetArguments],
    ) -> JobReport:
        """Obfuscate a file of texts row by row into another file, resumable.

        Args:
            source: The file to read: txt (a document per line), csv, tsv, jsonl or parquet, also compressed.
            target: The file to write, in the format that its name shows; it gets its name when it is complete.
            column: The column with the texts, or several columns; each text is a document with a budget of its own.
            drop_columns: Other columns that are not copied.
            keep_columns: The only other columns that are copied, instead.
            outcome_column: The column to write each row's outcome to; ``None`` writes none.
            format: The format of the source, if its name does not tell it.
            certificate: Where to write the certificate.
            batch_size: The number of documents to work on together.
            resume: Resume an unfinished run.
            overwrite: Replace files that exist.
            executor: Where the work runs: ``local`` (the default), ``processes``, ``ray``, or an open executor. With a
                seed, the output is the same, byte for byte.
            workers: The number of workers, by default one per core; with ``workers`` alone, they are processes.
            address: The address of a running Ray cluster.
            progress: Called with how far the work is.
            budget: The budget of every document; see :class:`~textveil.budget.BudgetArguments`.

        Warns:
            TextveilWarning: A column that is copied may identify people, or one of the input is replaced.
        """
        from textveil.jobs import FileJob, JobOptions
        from textveil.jobs.workers import Workplace
        from textveil.tables import Layout

        options = JobOptions(
            self.build_budget(**budget),
            Layout(column, outcome_column, format, drop_columns, keep_columns),
            batch_size,
            overwrite,
            None if certificate is None else Path(certificate),
        )
        place = Workplace(executor, workers, address)
        return FileJob(Path(source), Path(target), options, resume=resume, workplace=place).run(self, progress)

    def _obfuscate_batches(
        self, texts: Iterable[str | None], budget: Budget, batch_size: int, numbers: Iterator[int]
    ) -> Iterator[Obfuscation]:
        account = self.open_account(budget)
        for batch in batch_texts(_check_texts(texts), batch_size, text_of=lambda text: text):
            taken = [next(numbers) for _ in batch] if account is None else account.number(batch, numbers)
            done = self.obfuscate_numbered(batch, taken, budget)
            yield from done if account is None else account.charge(batch, taken, list(done))

    def open_account(self, budget: Budget) -> Account | None:
        """The account of documents with this budget; ``None`` without a ledger."""
        if self.ledger is None:
            return None
        from textveil.ledger import Account

        return Account(self.ledger, self.terms, budget, self.randomness)

    def obfuscate_numbered(
        self, texts: Sequence[str | None], numbers: Sequence[int], budget: Budget
    ) -> Iterator[Obfuscation]:
        """Obfuscate a batch of texts, each with the noise of its number. The caller charges the ledger."""
        with self._streams.open(self.randomness, numbers) as streams:
            plans, requests = self.planner.ask([text or "" for text in texts], budget, streams)
            chosen = self.mechanism.perturb(requests)
        entries = self._vectors.entries
        return finish_all(
            plans,
            [[entries[row] for row in rows.tolist()] for rows in chosen],
            writer=self._writer,
            terms=self.terms,
            budget=budget,
            missing=[text is None for text in texts],
        )

    def _state_terms(self) -> Terms:
        mechanism, screen, bundle = self.mechanism, self._screen, self.bundle
        if self.draft_share is not None:
            allocation = "public given the draft"
        elif not (self._decomposer.data_independent and self._distributor.data_independent):
            allocation = "data-dependent"
        else:
            allocation = "public given the kept stopwords" if self.stopwords == "keep" else "public"
        if mechanism.space is self._vectors:
            distance = bundle.distance(self._decomposer.name)
        else:
            distance = self._find_figure(lambda: measure_distances(mechanism.space), "distance")
        methods = (self._decomposer, self._distributor, mechanism)
        return Terms(
            profile=self.profile.stated(
                self._writer.form,
                drafts=self.draft_share is not None,
                redacts=screen is not None and screen.treatment == "redact",
            ),
            decomposition=self._decomposer.as_dict(),
            distribution=self._distributor.as_dict(),
            mechanism=mechanism.as_dict() | {name: getattr(mechanism, name) for name in ("guarantee", "index", "cap")},
            allocation=allocation,
            stopwords=self.stopwords,
            form=self._writer.form,
            emoji=self._writer.emoji,
            largest_share=self.largest_share if math.isfinite(self.largest_share) else None,
            randomness=self.randomness.as_dict(),
            distance=distance,
            bundle={"name": bundle.manifest.name, "version": bundle.manifest.version, "sha256": bundle.hash},
            versions=Versions(partial(_list_versions, methods, {} if screen is None else screen.finder.versions)),
            draft_share=self.draft_share,
            identifiers=None if screen is None else screen.as_dict(),
            ledger=None if self.ledger is None else self.ledger.as_dict(),
        )


def _check_accountable(ledger: Ledger, profile: Profile, mechanism: Mechanism) -> None:
    """Refuse a limit for what has no bound: words in clear, and mechanisms without a guarantee."""
    unbounded = profile.releases_unperturbed or mechanism.guarantee == NO_GUARANTEE
    if unbounded and ledger.budget_per_document is not None:
        raise ProfileError(
            "`budget_per_document` limits what documents spend. The profile 'paper' releases words in clear, and "
            "some mechanisms have no guarantee. Neither has a bound to limit. Leave it out, or choose another one."
        )


def _list_versions(methods: Iterable[Method], others: Mapping[str, str]) -> dict[str, str]:
    import platform

    own = {
        "textveil": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "randomgen": randomgen.__version__,
    }
    return own | {name: version for each in methods for name, version in each.software.items()} | dict(others)


def _rebuild(settings: Settings, randomness: Randomness) -> Obfuscator:
    """The obfuscator of a worker."""
    obfuscator = Obfuscator(settings)
    obfuscator.randomness = randomness
    return obfuscator


def _check_texts(texts: Iterable[str | None]) -> Iterator[str | None]:
    """The texts, with ``None`` for every missing value."""
    for number, text in enumerate(texts, start=1):
        if isinstance(text, str):
            yield text
        elif is_missing(text):
            yield None
        else:
            raise ParameterError(
                f"Text {number} must be a string, or None if it is missing. Got {type(text).__name__} instead."
            )


def _is_iterable(value: object) -> bool:
    try:
        iter(value)  # type: ignore[call-overload] # this is the question
    except TypeError:  # of an array without a dimension, too
        return False
    return True


def _point_to_other(found: object) -> str:
    """Whom to give something that is not a text, as the end of a message."""
    if isinstance(found, str | bytes):
        return " For a single text, call obfuscate."
    if hasattr(found, "columns"):
        return " For columns of a table, call textveil.pandas.obfuscate or textveil.polars.obfuscate."
    if isinstance(found, Mapping):
        return " For the texts of a mapping, call Obfuscator().obfuscate_all with its values()."
    if _is_iterable(found):
        return " For several texts, call Obfuscator().obfuscate_all, which takes any iterable of strings."
    return ""


def is_missing(value: object) -> bool:
    """Whether a value is ``None``, not a number, or the missing value of pandas."""
    if isinstance(value, Real):
        return value != value  # noqa: PLR0124 # true only of NaN
    return value is None or type(value).__name__ in _MISSING_TYPES


_MISSING_TYPES = ("NAType", "NaTType")
"""The types of ``pandas.NA`` and ``pandas.NaT``, which is not imported for this."""
