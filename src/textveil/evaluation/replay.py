"""Obfuscating originals again as a certificate says, to see what became of every chunk."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from textveil.bundles.bundle import Bundle
from textveil.distribution import DISTRIBUTORS
from textveil.distribution.base import EncoderDistributor
from textveil.errors import InputError, ParameterError
from textveil.obfuscation import Obfuscation, Obfuscator
from textveil.privacy.certificate import Tally, Terms
from textveil.privacy.outcomes import Outcome
from textveil.progress import Progress, ignore_progress

SEED = 42
"""What is drawn again is never released, and is the same whenever it is drawn."""
_NAME = re.compile(r"\w+")
_MODEL = re.compile(r"\((\S+) [0-9a-f]{12}\b")
_STEPS = re.compile(r"(\d+) steps")


def load_certificate(path: Path) -> dict[str, Any]:
    """Read a certificate that ``textveil obfuscate --certificate`` wrote.

    Raises:
        InputError: It is none.
    """
    try:
        values = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}. Check the path.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{str(path)!r} is not JSON. Give a certificate that textveil wrote.") from error
    if not isinstance(values, dict) or "certificate" not in values:
        raise InputError(f"{str(path)!r} is no certificate. Give a file that textveil obfuscate --certificate wrote.")
    return values


def replay(
    certificate: Mapping[str, Any],
    texts: Sequence[str | None],
    *,
    bundle: Bundle | str | Path,
    progress: Progress = ignore_progress,
) -> list[Obfuscation]:
    """Obfuscate originals with the settings of a certificate, and other noise.

    Chunks, shares and what is released in clear are the same as they were, since no noise is in them; what the
    mechanism chooses is drawn again.

    Raises:
        ParameterError: Some setting is not to be had here, such as the bundle or the version of an encoder.
        InputError: The certificate is not that of these texts.
    """
    try:
        obfuscator = _make_obfuscator(certificate, bundle)
        epsilon = float(certificate["budget"])
        _check_settings(certificate, obfuscator.terms)
        words = dict(certificate["words"])
    except (KeyError, TypeError) as error:
        raise InputError("The certificate is not complete. Give one that textveil wrote.") from error
    results: list[Obfuscation] = []
    for result in obfuscator.obfuscate_all(texts, epsilon=epsilon, first_document=0):
        results.append(result)
        if len(results) % 100 == 0:
            progress("obfuscating again", len(results), len(results) / len(texts))
    tally = Tally.over(result.certificate.tally for result in results)
    if words != {outcome.value: tally.words[outcome] for outcome in Outcome}:
        raise InputError("The certificate is not that of these texts: they have other words. Give the right one.")
    return results


def _make_obfuscator(certificate: Mapping[str, Any], bundle: Bundle | str | Path) -> Obfuscator:
    allocation = certificate["allocation"]
    distribution = str(allocation["distribution"])
    options: dict[str, Any] = {}
    asks_encoder = issubclass(DISTRIBUTORS.load(_first_word(distribution)), EncoderDistributor)
    if asks_encoder and (model := _MODEL.search(distribution)):
        options["model"] = model[1]
    if steps := _STEPS.search(distribution):
        options["steps"] = int(steps[1])
    loaded = bundle if isinstance(bundle, Bundle) else Bundle.load(bundle)
    _check_same("bundle", certificate["bundle"]["sha256"], loaded.hash, "Give the other one with --bundle.")
    return Obfuscator(
        loaded,
        decomposition=_first_word(allocation["decomposition"]),
        distribution=_first_word(distribution),
        distribution_options=options,
        mechanism=certificate["mechanism"]["name"],
        profile=certificate["profile"],
        stopwords=allocation["stopwords"],
        seed=SEED,
    )


def _first_word(label: str) -> str:
    found = _NAME.match(label)
    return found[0] if found else label


def _check_settings(certificate: Mapping[str, Any], terms: Terms) -> None:
    for name, now in (("decomposition", terms.decomposition), ("distribution", terms.distribution)):
        _check_same(name, certificate["allocation"][name], now, "Install what was used then.")


def _check_same(name: str, was: object, now: object, advice: str) -> None:
    if was != now:
        raise ParameterError(
            f"The texts cannot be obfuscated again: the {name} was {was}, and here it is {now}. {advice}"
        )
