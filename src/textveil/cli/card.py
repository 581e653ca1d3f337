"""Release cards as files: ``textveil evaluate --card``."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from textveil.analysis.card_page import write_card_page
from textveil.errors import ParameterError
from textveil.evaluation import Evaluation
from textveil.evaluation.blocks import Page
from textveil.evaluation.card import build_card
from textveil.evaluation.files import Pairs
from textveil.evaluation.verification import verify_certificate
from textveil.jobs import check_free
from textveil.privacy.certificate import Certificate
from textveil.privacy.results import Obfuscation
from textveil.storage.atomic import writing

_FORMATS = {".html": write_card_page, ".htm": write_card_page, ".md": Page.to_markdown}


def check_cards(paths: Sequence[Path] | None, *, overwrite: bool) -> None:
    """Refuse a card that cannot be written: of an unknown format, or one that exists."""
    for path in paths or ():
        if path.suffix.lower() not in _FORMATS:
            raise ParameterError(f"--card writes .html and .md files. {str(path)!r} is neither.")
        check_free(path, overwrite=overwrite)


def write_cards(
    paths: Sequence[Path] | None,
    evaluation: Evaluation,
    pairs: Pairs,
    *,
    certificate: Path | None,
    obfuscations: Sequence[Obfuscation] | None,
    like: Path,
) -> None:
    """Write the card of an evaluation to every path, in the format of its suffix.

    Args:
        paths: The files to write.
        evaluation: Everything that was measured.
        pairs: The texts, with which the certificate is compared.
        certificate: The file of the certificate.
        obfuscations: The outcome of every chunk.
        like: The file of originals. A card is never more readable than it.
    """
    if not paths:
        return
    issued = None if certificate is None else Certificate.load(certificate)
    sha256 = None if certificate is None else hashlib.sha256(certificate.read_bytes()).hexdigest()
    unchanged = evaluation.value("clear_text", "unchanged")
    texts = pairs.originals, pairs.obfuscated, obfuscations
    checks = () if issued is None else verify_certificate(issued, *texts, unchanged=unchanged)
    card = build_card(evaluation, issued, checks, certificate_sha256=sha256)
    for path in paths:
        with writing(path, like=like) as stream:
            stream.write(_FORMATS[path.suffix.lower()](card).encode(errors="replace"))
