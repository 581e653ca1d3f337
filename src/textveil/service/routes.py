"""The routes of the service: from a request to the library, and back."""

from __future__ import annotations

import asyncio
import functools
import json
import math
import threading
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar, cast
from weakref import WeakKeyDictionary

from fastapi import APIRouter, Query, Response

from textveil.budget import Budget
from textveil.errors import ParameterError
from textveil.lab.attacks.deniability import describe_meaning
from textveil.lab.audit import audit_obfuscator
from textveil.lab.calibration import calibrate
from textveil.obfuscator import Obfuscator
from textveil.service import answers, models
from textveil.service.answers import TooManyError
from textveil.service.batching import Batcher, Order
from textveil.service.catalog import describe_bundles, describe_methods
from textveil.service.lanes import Lane
from textveil.service.obfuscators import Obfuscators
from textveil.service.settings import Settings
from textveil.text.words import find_spans
from textveil.version import __version__

R = TypeVar("R")

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
        self._auditing = False
        most = max(1, settings.requests // SHARE_OF_LANE)
        self._builds = Lane("The server is busy loading other settings. Try again later.", most=most)
        self._meanings = Lane("The server is busy computing other curves. Try again later.", most=most)
        self._splits = Lane("The server is busy splitting other texts. Try again later.", most=most, at_once=2)
        self._budgets: WeakKeyDictionary[Obfuscator, dict[Any, Budget]] = WeakKeyDictionary()

    async def load(self) -> None:
        """Build what most requests need, so that none of them waits for it."""
        self.obfuscators.load()
        for bundle in self.obfuscators.bundles:
            request = models.Budgeted(bundle=bundle)
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
        given = (request.epsilon, request.epsilon_per_word, request.length, request.level)
        build = functools.partial(obfuscator.build_budget, *given)
        numbers = [number for number in given[:2] if number is not None]
        if numbers and all(0 < number < math.inf for number in numbers):
            return build()
        known = self._budgets.setdefault(obfuscator, {})
        if given not in known:
            known[given] = await self._builds.run((id(obfuscator), given), build)
        return known[given]

    async def obfuscate(self, request: models.ObfuscateRequest) -> bytes:
        """Obfuscate the texts of a request, together with those of others."""
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
        return bytes(await self.batcher.submit(Order(obfuscator, budget, texts, finish)))

    async def decompose(self, request: models.DecomposeRequest) -> bytes:
        """Split a text."""
        self._check_lengths([request.text])
        find = functools.partial(self.obfuscators.find_decomposer, self.obfuscators.choose_bundle(request.bundle))
        work = functools.partial(answers.decompose, request.text, request.decompositions, find)
        return answers.write_json(await self._splits.run(object(), work))

    async def distribute(self, request: models.DistributeRequest) -> bytes:
        """Divide a budget over the words of a text."""
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

        return answers.write_json(await self._splits.run(object(), work))

    async def calibrate(self, request: models.CalibrateRequest) -> bytes:
        """Find the epsilon for targets."""
        if request.texts is not None:
            self._check_number(len(request.texts), models.MOST_DOCUMENTS)
            self._check_lengths(request.texts)
        obfuscator = await self.find(request)
        found = await self._take_long(
            functools.partial(calibrate, obfuscator, request.targets, request.texts, confidence=request.confidence)
        )
        return answers.write_json(found.as_dict())

    async def audit(self, request: models.AuditRequest) -> bytes:
        """Try to refute a claim."""
        obfuscator = await self.find(request)
        budget = await self.choose_budget(obfuscator, request)
        found = await self._take_long(
            functools.partial(
                audit_obfuscator, obfuscator, budget=budget, draws=request.draws, confidence=request.confidence
            )
        )
        return answers.write_json({"auditee": repr(obfuscator), **found.as_dict()})

    async def find_meaning(self, wanted: models.Methods) -> bytes:
        """What an epsilon per word means. It is computed even if its request ends, and cached."""
        obfuscator = await self.find(wanted)
        terms = obfuscator.terms
        named = {
            "bundle": terms.bundle["name"],
            "decomposition": terms.decomposition["name"],
            "mechanism": terms.mechanism["name"],
            "largest_share": terms.largest_share,
        }
        key = json.dumps([named, terms.stopwords])
        found = await self._meanings.run(key, functools.partial(describe_meaning, obfuscator))
        return answers.write_json({**named, **found})

    def _check_number(self, texts: int, most: int | None = None) -> None:
        limit = self.settings.texts if most is None else min(most, self.settings.texts)
        if texts > limit:
            raise TooManyError(413, f"There are too many texts: at most {limit:,} in a request. Got {texts:,}.")

    def _check_lengths(self, texts: Sequence[str | None]) -> None:
        """Refuse a text that would keep all others waiting: a text is obfuscated in one piece."""
        limit = self.settings.words
        for text in texts:
            if text is not None and len(text) > limit and len(find_spans(text)) > limit:
                raise TooManyError(413, f"A text is too long: at most {limit:,} words. Split it.")

    async def _take_long(self, work: Callable[..., R]) -> R:
        """Do work that takes seconds. There is one such at a time, and it ends with its request."""
        if self._auditing:
            raise TooManyError(429, "The server is busy with another audit or calibration. Try again later.")
        ended = threading.Event()

        def check(*_: Any) -> None:
            if ended.is_set():
                raise _EndedError

        def release(done: asyncio.Future[R]) -> None:
            self._auditing = False
            done.exception()  # so that it is not reported if nobody waits for it

        self._auditing = True
        done = asyncio.get_running_loop().run_in_executor(None, functools.partial(work, progress=check))
        done.add_done_callback(release)
        try:
            return await asyncio.shield(done)
        finally:
            ended.set()


def build_router(desk: Desk) -> APIRouter:
    """The routes, with their descriptions for OpenAPI."""
    router = APIRouter(responses=PROBLEMS)
    _add_get_routes(router, desk)
    _add_post_routes(router, desk)
    return router


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")


def _answers(model: Any) -> dict[int | str, dict[str, Any]]:
    return {200: {"model": model}}


def _add_get_routes(router: APIRouter, desk: Desk) -> None:
    @router.get("/health", responses=_answers(models.Health))
    async def health() -> Response:
        """Whether the server is ready."""
        return _json(answers.write_json({"status": "ok", "version": __version__}))

    @router.get("/methods", responses=_answers(models.MethodsAnswer))
    async def methods() -> Response:
        """Everything that a request may choose."""
        return _json(answers.write_json(await asyncio.to_thread(describe_methods, desk.settings, desk.obfuscators)))

    @router.get("/bundles", responses=_answers(models.BundlesAnswer))
    async def bundles() -> Response:
        """The bundles that are loaded."""
        return _json(answers.write_json(describe_bundles(desk.obfuscators.bundles)))

    @router.get("/meaning", responses=_answers(models.Meaning))
    async def meaning(
        mechanism: Annotated[str | None, Query(examples=["exponential"])] = None,
        decomposition: Annotated[str | None, Query(examples=["words"])] = None,
        bundle: Annotated[str | None, Query(examples=["en"])] = None,
        profile: Annotated[str | None, Query(examples=["strict"])] = None,
    ) -> Response:
        """What an epsilon per word means: the share of words that stay, and that an attacker guesses."""
        wanted = models.Methods(mechanism=mechanism, decomposition=decomposition, bundle=bundle, profile=profile)
        return _json(await desk.find_meaning(wanted))


def _add_post_routes(router: APIRouter, desk: Desk) -> None:
    @router.post("/obfuscate", responses=_answers(models.ObfuscateAnswer | models.ObfuscateAllAnswer))
    async def obfuscate(body: models.ObfuscateRequest) -> Response:
        """Obfuscate a text, or several."""
        return _json(await desk.obfuscate(body))

    @router.post("/decompose", responses=_answers(models.DecomposeAnswer))
    async def decompose(body: models.DecomposeRequest) -> Response:
        """Split a text into chunks, by several decompositions."""
        return _json(await desk.decompose(body))

    @router.post("/distribute", responses=_answers(models.DistributeAnswer))
    async def distribute(body: models.DistributeRequest) -> Response:
        """Divide a budget over the words of a text, by several distributions."""
        return _json(await desk.distribute(body))

    @router.post("/calibrate", responses=_answers(dict[str, Any]))
    async def calibrate_(body: models.CalibrateRequest) -> Response:
        """Find the epsilon per word that meets targets."""
        return _json(await desk.calibrate(body))

    @router.post("/audit", responses=_answers(dict[str, Any]))
    async def audit(body: models.AuditRequest) -> Response:
        """Try to refute what a certificate claims."""
        return _json(await desk.audit(body))
