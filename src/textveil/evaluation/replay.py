"""Obfuscating originals again as a certificate says, to see what became of every chunk."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from textveil.bundles.bundle import Bundle
from textveil.decomposition import DECOMPOSERS
from textveil.distribution import DISTRIBUTORS
from textveil.errors import InputError, ParameterError
from textveil.mechanisms import MECHANISMS
from textveil.obfuscation import Obfuscator
from textveil.privacy.certificate import Certificate, Tally, Terms
from textveil.privacy.results import Obfuscation
from textveil.progress import Progress, ignore_progress
from textveil.registry import Registry

SEED = 42
"""What is drawn again is never released, and is the same each time."""


def replay(
    certificate: Certificate,
    texts: Sequence[str | None],
    *,
    bundle: Bundle | str | Path,
    model: str | Path | None = None,
    progress: Progress = ignore_progress,
) -> list[Obfuscation]:
    """Obfuscate originals with the settings of a certificate, and new noise.

    Chunks, shares and what is released in clear are the same as they were, since they do not depend on noise. What the
    mechanism chooses is drawn again.

    Args:
        certificate: The certificate of the obfuscation.
        texts: The originals, in their order.
        bundle: The bundle of the obfuscation.
        model: The encoder of the distribution, if it was a folder; by default it is found by its name.
        progress: Called with how far the work is.

    Raises:
        ParameterError: Something is not the same here, such as the bundle or the encoder.
        InputError: The certificate belongs to other texts.
    """
    obfuscator = _build_obfuscator(certificate.terms, bundle, model)
    results: list[Obfuscation] = []
    for result in obfuscator.obfuscate_all(texts, budget=certificate.budget, first_document=0):
        results.append(result)
        if len(results) % 100 == 0:
            progress("obfuscating again", len(results), len(results) / len(texts))
    if Tally.over(result.certificate.tally for result in results).words != certificate.tally.words:
        raise InputError("The certificate belongs to other texts: the counts of words differ. Give the right one.")
    return results


def _build_obfuscator(terms: Terms, bundle: Bundle | str | Path, model: str | Path | None) -> Obfuscator:
    loaded = bundle if isinstance(bundle, Bundle) else Bundle.load(bundle)
    _check_same("bundle", terms.bundle["sha256"], loaded.hash, "Give the right one with `bundle`.")
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
        keep_emoji=terms.emoji == "keep",
        largest_share=math.inf if terms.largest_share is None else terms.largest_share,
        seed=SEED,
    )
    for axis in ("decomposition", "distribution", "mechanism"):
        was, now = getattr(terms, axis)["model"], getattr(obfuscator.terms, axis)["model"]
        if was is not None and now is not None:
            advice = "Install the version that was used" + (
                ", or give its folder with `model`." if model is None else "."
            )
            _check_same(f"{was['name']} of the {axis}", was["sha256"], now["sha256"][: len(was["sha256"])], advice)
    return obfuscator


def _options(registry: Registry[Any], method: Mapping[str, Any], model: str | Path | None = None) -> dict[str, Any]:
    """The options of a recorded method, with the model it used."""
    options = dict(method["options"])
    if "model" in registry.load(method["name"]).list_options() and method["model"] is not None:
        options["model"] = model or method["model"]["name"]
    return options


def _check_same(name: str, was: object, now: object, advice: str) -> None:
    if was != now:
        raise ParameterError(f"The texts cannot be obfuscated again: the {name} was {was}; here it is {now}. {advice}")
