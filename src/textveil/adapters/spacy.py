"""The adapter for spaCy: a component that obfuscates the text of every ``Doc``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from textveil.adapters.columns import DeferredObfuscator
from textveil.extras import require
from textveil.settings import BUDGET_NAMES
from textveil.text.batches import BATCH_SIZE

__all__ = ["ObfuscationComponent", "build_component"]

EXTENSION = "textveil"
"""The name of the factory, and of the attribute below ``doc._``."""

_Doc: Any = require("spacy.tokens", extra="spacy").Doc
_Language: Any = require("spacy.language", extra="spacy").Language

if not _Doc.has_extension(EXTENSION):
    _Doc.set_extension(EXTENSION, default=None)


class ObfuscationComponent:
    """Writes the obfuscated text of a ``Doc`` to ``doc._.textveil``; the ``Doc`` keeps its own text.

    The attribute is a dictionary with the keys ``text``, ``outcome``, ``chunks`` and ``certificate``, so that it can be
    saved with the ``Doc``. Its chunks have the original words.

    Args:
        settings: Any of :class:`~textveil.settings.Settings`.
        budget: Those of the budget, too.
    """

    def __init__(self, settings: dict[str, Any], **budget: Any) -> None:
        self._deferred = DeferredObfuscator({**settings, **budget})

    def __call__(self, doc: Any) -> Any:
        """Obfuscate one ``Doc``."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Any], *, batch_size: int = BATCH_SIZE) -> Iterator[Any]:
        """Obfuscate many of them, a batch at a time."""
        docs = iter(stream)
        while batch := list(islice(docs, batch_size)):
            done = self._deferred.obfuscate_all([doc.text for doc in batch])
            for doc, obfuscation in zip(batch, done, strict=True):
                doc._.set(EXTENSION, obfuscation.as_dict())
                yield doc


_DEFAULTS: dict[str, Any] = {**dict.fromkeys(BUDGET_NAMES), "settings": {}}


@_Language.factory(EXTENSION, default_config=_DEFAULTS, assigns=[f"doc._.{EXTENSION}"])  # type: ignore[untyped-decorator]
def build_component(
    nlp: Any,  # noqa: ARG001 # what spaCy passes to a factory
    name: str,  # noqa: ARG001
    *,
    epsilon: float | None,
    epsilon_per_word: float | None,
    level: str | None,
    length: str | None,
    settings: dict[str, Any],
) -> ObfuscationComponent:
    """The component for a pipeline: ``nlp.add_pipe("textveil", config={"level": "high"})``.

    Args:
        nlp: The pipeline.
        name: The name of the component in it.
        epsilon: The budget of every text.
        epsilon_per_word: The budget per word, instead of ``epsilon``; kept stopwords do not count.
        level: The level of protection, instead of a number: ``high``, ``medium`` (the default) or ``low``.
        length: The words that ``epsilon_per_word`` is multiplied by: only a text's ``own``.
        settings: The arguments of ``Obfuscator``, such as ``{"form": "plain"}``.
    """
    return ObfuscationComponent(
        settings, epsilon=epsilon, epsilon_per_word=epsilon_per_word, level=level, length=length
    )
