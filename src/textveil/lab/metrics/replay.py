"""Replay: obfuscate originals again with the settings of a certificate, to learn the outcome of every chunk."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from textveil.bundles.bundle import Bundle
from textveil.certificate import Certificate, Tally, Terms
from textveil.errors import InputError, ParameterError, ResourceError
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.distribution import DISTRIBUTORS
from textveil.methods.mechanisms import MECHANISMS
from textveil.models.files import ModelFiles
from textveil.obfuscator import Obfuscator
from textveil.progress import Progress, ignore_progress
from textveil.registry import Registry
from textveil.results import Obfuscation
from textveil.text.identifiers import MODEL as ENTITY_MODEL

SEED = 42
"""The seed of the new noise. The new texts are never released."""
_FAILURE = "The texts cannot be obfuscated again:"


def replay(
    certificate: Certificate,
    texts: Sequence[str | None],
    *,
    bundle: Bundle | str | Path,
    model: str | Path | None = None,
    progress: Progress = ignore_progress,
) -> list[Obfuscation]:
    """Obfuscate originals with the settings of a certificate and new noise.

    Chunks, shares and clear words do not depend on noise, so they are the same as in the first run. The replacements
    are drawn again.

    Args:
        certificate: The certificate of the obfuscation.
        texts: The originals in their order.
        bundle: The bundle of the obfuscation.
        model: The encoder of the distribution, if it was a folder; by default it is found by its recorded name.
        progress: Receives progress reports.

    Raises:
        ParameterError: The bundle or the model differs from the one that was used.
        ResourceError: The model is not on this machine.
        InputError: The certificate belongs to other texts, or chunks and shares were computed from a draft.
    """
    if certificate.terms.draft_share is not None:
        raise InputError(f"{_FAILURE} their chunks and shares depend on the noise of a draft, which is not recorded.")
    obfuscator = rebuild_obfuscator(certificate.terms, bundle, model, seed=SEED)
    results: list[Obfuscation] = []
    for result in obfuscator.obfuscate_all(texts, budget=certificate.budget, first_document=0):
        results.append(result)
        if len(results) % 100 == 0:
            progress("obfuscating again", len(results), len(results) / len(texts))
    if Tally.over(result.certificate.tally for result in results).words != certificate.tally.words:
        raise InputError("The certificate belongs to other texts: the word counts differ. Give the right certificate.")
    return results


def rebuild_obfuscator(
    terms: Terms, bundle: Bundle | str | Path, model: str | Path | None = None, *, seed: int | None = None
) -> Obfuscator:
    """The obfuscator that a certificate describes.

    Args:
        terms: The terms of the certificate.
        bundle: The bundle of the obfuscation.
        model: The encoder of the distribution, if it was a folder; by default it is found by its recorded name.
        seed: The seed of its noise; by default the noise is fresh.

    Raises:
        ParameterError: The bundle or the model differs from the one that was used.
        ResourceError: The model is not on this machine.
    """
    loaded = bundle if isinstance(bundle, Bundle) else Bundle.load(bundle)
    _check_same("bundle", terms.bundle["sha256"], loaded.hash, "Set `bundle` to the one that was used.")
    if terms.identifiers is not None and terms.identifiers["model"]["name"] != ENTITY_MODEL:
        raise InputError(f"{_FAILURE} an analyzer of the caller found their identifiers, and it is not recorded.")
    obfuscator = Obfuscator(
        loaded,
        decomposition=terms.decomposition["name"],
        decomposition_options=_options(DECOMPOSERS, terms.decomposition),
        distribution=terms.distribution["name"],
        distribution_options=_options(DISTRIBUTORS, terms.distribution, model),
        mechanism=terms.mechanism["name"],
        mechanism_options=_options(MECHANISMS, terms.mechanism),
        profile=terms.profile.name,
        stopwords=terms.stopwords,
        form=terms.form,
        keep_emoji=terms.emoji == "keep" and terms.form == "keep",
        largest_share=math.inf if terms.largest_share is None else terms.largest_share,
        draft_share=terms.draft_share,
        identifiers=None if terms.identifiers is None else terms.identifiers["treatment"],
        seed=seed,
    )
    for axis in ("decomposition", "distribution", "mechanism"):
        was, now = getattr(terms, axis)["model"], getattr(obfuscator.terms, axis)["model"]
        if was is not None and now is not None:
            advice = "Install the version that was used, or set `model` to the folder of the encoder that was used."
            _check_same(f"{was['name']} of the {axis}", was["sha256"], now["sha256"], advice)
    return obfuscator


def _options(registry: Registry[Any], method: Mapping[str, Any], model: str | Path | None = None) -> dict[str, Any]:
    """The options of a recorded method, and its model if that is an option: the given one, or the recorded name."""
    options = dict(method["options"])
    if "model" not in registry.load(method["name"]).list_options():
        if model is not None:
            raise ParameterError(f"The distribution {method['name']!r} uses no encoder. Remove `model`.")
        return options
    if method["model"] is not None:
        options["model"] = model or method["model"]["name"]
        try:
            ModelFiles.find(options["model"])
        except ResourceError as error:
            raise ResourceError(f"{_FAILURE} {error} Or set `model` to the folder of the encoder.") from error
    return options


def _check_same(name: str, was: str, now: str, advice: str) -> None:
    if was != now:
        raise ParameterError(f"{_FAILURE} the {name} was {was[:12]}; here it is {now[:12]}. {advice}")
