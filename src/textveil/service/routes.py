"""The routes of the service: from a request to the library, and back."""

from __future__ import annotations

import asyncio
import functools
import math
import threading
from collections.abc import Callable, Sequence
from typing import Annotated, Any, cast
from weakref import WeakKeyDictionary

from fastapi import APIRouter, Query, Response

from textveil.budget import Budget
from textveil.errors import ParameterError
from textveil.lab.attacks.deniability import describe_meaning
from textveil.lab.audit import audit_obfuscator
from textveil.lab.calibration import calibrate
from textveil.obfuscator import Obfuscator
from textveil.service import answers, models
from textveil.service.answers import respond
from textveil.service.batching import Batcher
from textveil.service.catalog import BundlesAnswer, MethodsAnswer, describe_bundles, describe_methods
from textveil.service.lanes import Lane
from textveil.service.models import RefusedError
from textveil.service.obfuscators import Obfuscators
from textveil.service.settings import Settings
from textveil.settings import BUDGET_NAMES
from textveil.text.words import find_spans
from textveil.version import __version__

SHARE_OF_LANE = 4
"""The part of all requests that may wait in a lane. The others are left for what is in memory."""

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": models.Problem} for status in (400, 401, 408, 413, 415, 422, 429, 500, 501, 503)
}


class _EndedError(Exception):
    """The request that wanted this work has ended."""


class Desk:
    """Does the work of the routes.

    Args:
        settings: The settings of the service.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.obfuscators = Obfuscators(settings)
        self.batcher = Batcher()
        most = max(1, settings.requests // SHARE_OF_LANE)
        self._builds = Lane("The server is busy loading other settings. Try again later.", most=most)
        self._meanings = Lane("The server is busy computing other curves. Try again later.", most=most)
        self._splits = Lane("The server is busy splitting other texts. Try again later.", most=most, at_once=2)
        self._audits = Lane("The server is busy with another audit or calibration. Try again later.", most=1)
        self._budgets: WeakKeyDictionary[Obfuscator, dict[Any, Budget]] = WeakKeyDictionary()

    async def load(self) -> None:
        """Build what most requests need, so that none of them waits for it."""
        self.obfuscators.load()
        for bundle in self.obfuscators.bundles:
            request = models.Budgeted.model_validate({"bundle": bundle})
            await self.choose_budget(await self.find(request), request)

    async def find(self, wanted: models.Methods) -> Obfuscator:
        """The obfuscator of a request. One that is in memory is there at once, whatever is being built."""
        kept = self.obfuscators.find_kept(wanted)
        if kept is not None:
            return kept
        key, build = self.obfuscators.write_key(wanted), functools.partial(self.obfuscators.find, wanted)
        return cast(Obfuscator, await self._builds.run(key, build))

    async def choose_budget(self, obfuscator: Obfuscator, request: models.Budgeted) -> Budget:
        """The budget of a request. What a level means may have to be computed, and so does the help of an error."""
        given = {name: getattr(request, name) for name in BUDGET_NAMES}
        build = functools.partial(obfuscator.build_budget, **given)
        numbers = [number for number in (given["epsilon"], given["epsilon_per_word"]) if number is not None]
        if numbers and all(0 < number < math.inf for number in numbers):
            return build()
        known, key = self._budgets.setdefault(obfuscator, {}), tuple(given.values())
        if key not in known:
            known[key] = await self._builds.run((id(obfuscator), key), build)
        return known[key]

    async def tell_health(self) -> Response:
        """Whether the server is ready."""
        return respond(models.Health(version=__version__))

    async def list_methods(self) -> Response:
        """Everything that a request may choose."""
        return respond(await asyncio.to_thread(describe_methods, self.settings, self.obfuscators))

    async def list_bundles(self) -> Response:
        """The bundles that are loaded."""
        return respond(describe_bundles(self.obfuscators.bundles))

    async def find_meaning(
        self,
        mechanism: Annotated[str | None, Query(examples=["exponential"])] = None,
        decomposition: Annotated[str | None, Query(examples=["words"])] = None,
        bundle: Annotated[str | None, Query(examples=["en"])] = None,
        profile: Annotated[str | None, Query(examples=["strict"])] = None,
    ) -> Response:
        """What an epsilon per word means: the share of words that stay, and that an attacker guesses."""
        wanted = {"mechanism": mechanism, "decomposition": decomposition, "bundle": bundle, "profile": profile}
        obfuscator = await self.find(models.Methods.model_validate(wanted))
        terms = obfuscator.terms
        named = {
            "bundle": terms.bundle["name"],
            "decomposition": terms.decomposition["name"],
            "mechanism": terms.mechanism["name"],
            "largest_share": terms.largest_share,
        }
        key = (*named.values(), terms.stopwords)  # it is computed even if its request ends, and cached
        return respond({**named, **await self._meanings.run(key, functools.partial(describe_meaning, obfuscator))})

    async def obfuscate(self, request: models.ObfuscateRequest) -> Response:
        """Obfuscate a text, or several."""
        if (request.text is None) == (request.texts is None):
            raise ParameterError("Set `text` or `texts`, and not both.")
        texts = [request.text] if request.texts is None else request.texts
        self._check_number(len(texts))
        self._check_lengths(texts)
        if request.seed is not None and not self.settings.allow_seeds:
            raise ParameterError(
                "A `seed` makes noise predictable, so this server refuses it. To allow it, the server must be started "
                "with `allow_seeds=True`."
            )
        obfuscator = await self.find(request)
        budget = (await self.choose_budget(obfuscator, request)).resolve(texts)
        if request.seed is not None:
            obfuscator = obfuscator.with_seed(request.seed)
        finish = answers.Answer(request, obfuscator, budget)
        return cast(Response, await self.batcher.submit(obfuscator, budget, texts, finish))

    async def decompose(self, request: models.DecomposeRequest) -> Response:
        """Split a text into chunks, by several decompositions."""
        self._check_lengths([request.text])
        find = functools.partial(self.obfuscators.find_decomposer, self.obfuscators.choose_bundle(request.bundle))
        work = functools.partial(answers.decompose, request.text, request.decompositions, find)
        return respond(await self._splits.run(object(), work))

    async def distribute(self, request: models.DistributeRequest) -> Response:
        """Divide a budget over the words of a text, by several distributions."""
        self._check_lengths([request.text])

        def work() -> dict[str, Any]:
            loaded = [self.settings.distribution, *self.settings.load]
            names = dict.fromkeys(loaded if request.distributions is None else request.distributions)
            return answers.distribute(
                request.text,
                request.epsilon,
                [self.obfuscators.find_distributor(name, {}) for name in names],
                profile=request.profile or self.settings.profile,
                stopwords=request.stopwords,
            )

        return respond(await self._splits.run(object(), work))

    async def calibrate(self, request: models.CalibrateRequest) -> Response:
        """Find the epsilon per word that meets targets."""
        if request.texts is not None:
            self._check_number(len(request.texts), models.MOST_DOCUMENTS)
            self._check_lengths(request.texts)
        obfuscator = await self.find(request)
        found = await self._take_long(
            functools.partial(calibrate, obfuscator, request.targets, request.texts, confidence=request.confidence)
        )
        return respond(found.as_dict())

    async def audit(self, request: models.AuditRequest) -> Response:
        """Try to refute what a certificate claims."""
        obfuscator = await self.find(request)
        budget = await self.choose_budget(obfuscator, request)
        found = await self._take_long(
            functools.partial(
                audit_obfuscator, obfuscator, budget=budget, draws=request.draws, confidence=request.confidence
            )
        )
        return respond({"auditee": repr(obfuscator), **found.as_dict()})

    def _check_number(self, texts: int, most: int | None = None) -> None:
        limit = self.settings.texts if most is None else min(most, self.settings.texts)
        if texts > limit:
            message = f"There are too many texts: at most {limit:,} in a request. Got {texts:,}."
            raise RefusedError(413, message, "SizeError")

    def _check_lengths(self, texts: Sequence[str | None]) -> None:
        """Refuse a text that would keep all others waiting: a text is obfuscated in one piece."""
        limit = self.settings.words
        for text in texts:
            if text is not None and len(text) > limit and len(find_spans(text)) > limit:
                raise RefusedError(413, f"A text is too long: at most {limit:,} words. Split it.", "SizeError")

    async def _take_long(self, work: Callable[..., Any]) -> Any:
        """Do work that takes seconds. There is one such at a time, and it ends with its request."""
        ended = threading.Event()

        def check(*_: Any) -> None:
            if ended.is_set():
                raise _EndedError

        try:
            return await self._audits.run(ended, functools.partial(work, progress=check))
        finally:
            ended.set()


def build_router(desk: Desk) -> APIRouter:
    """The routes, with their descriptions for OpenAPI."""
    router = APIRouter(responses=PROBLEMS)
    gets: tuple[tuple[str, Any, Any], ...] = (
        ("/health", desk.tell_health, models.Health),
        ("/methods", desk.list_methods, MethodsAnswer),
        ("/bundles", desk.list_bundles, BundlesAnswer),
        ("/meaning", desk.find_meaning, models.Meaning),
    )
    posts: tuple[tuple[str, Any, Any], ...] = (
        ("/obfuscate", desk.obfuscate, models.ObfuscateAnswer | models.ObfuscateAllAnswer),
        ("/decompose", desk.decompose, models.DecomposeAnswer),
        ("/distribute", desk.distribute, models.DistributeAnswer),
        ("/calibrate", desk.calibrate, dict[str, Any]),
        ("/audit", desk.audit, dict[str, Any]),
    )
    for method, routes in (("GET", gets), ("POST", posts)):
        for path, endpoint, answer in routes:
            router.add_api_route(path, endpoint, methods=[method], responses={200: {"model": answer}})
    return router
