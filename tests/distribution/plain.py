"""The paper's algorithms 4 to 6 through the plain libraries, one document at a time, to compare with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from textveil.text.documents import Document

Scores = list[float | None]


def load_plainly(folder: Path, **options: Any) -> tuple[Any, Any]:
    """A model of transformers, and its tokenizer."""
    import torch
    import transformers

    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32, **options).eval()
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def add_up(document: Document, offsets: Sequence[Sequence[int]], scores: Sequence[float]) -> Scores:
    """The scores of tokens summed onto words, character by character."""
    owner = {place: number for number, (start, stop) in enumerate(document.spans) for place in range(start, stop)}
    words: list[float] = [0.0] * len(document.words)
    for (start, stop), score in zip(offsets, scores, strict=True):
        number = next((owner[place] for place in range(start, stop) if place in owner), None)
        if number is not None:
            words[number] += score
    return list(words)


def attend_plainly(model: Any, tokenizer: Any, document: Document) -> Scores:
    """Algorithm 4; the model has the eager attention."""
    import torch

    tokens = tokenizer(document.text, return_tensors="pt", return_offsets_mapping=True, truncation=False, padding=False)
    offsets = tokens.pop("offset_mapping")[0].tolist()
    with torch.no_grad():
        attentions = torch.stack(model(**tokens, output_attentions=True).attentions)
    scores = attentions.mean(dim=(0, 2)).mean(dim=1)[0].tolist()
    return add_up(document, offsets[1:-1], scores[1:-1])


def attribute_plainly(model: Any, tokenizer: Any, document: Document, steps: int) -> tuple[Scores, float]:
    """Algorithm 5, and the convergence delta."""
    from captum.attr import IntegratedGradients

    tokens = tokenizer(document.text, return_tensors="pt", return_offsets_mapping=True, truncation=False, padding=False)
    embeddings = model.get_input_embeddings()(tokens["input_ids"]).detach()

    def forward(inputs: Any) -> Any:
        return model(inputs_embeds=inputs).last_hidden_state.mean(dim=1).sum(dim=1)

    attributions, delta = IntegratedGradients(forward).attribute(
        embeddings, n_steps=steps, return_convergence_delta=True
    )
    scores = attributions.norm(dim=-1)[0].tolist()
    return add_up(document, tokens["offset_mapping"][0].tolist()[1:-1], scores[1:-1]), float(delta[0])


def inform_plainly(reader: Any, counts: Sequence[Any], document: Document, parts: Sequence[str | None]) -> Scores:
    """Algorithm 6 with NLTK's own Lesk, one word at a time; what no corpus has, counts as the rarest of all."""
    from nltk.corpus.reader.wordnet import information_content
    from nltk.wsd import lesk

    scores: Scores = []
    for word, part in zip(document.words, parts, strict=True):
        sense = lesk(document.words, word, part, synsets=reader.synsets(word))
        if sense is None or sense.pos() not in ("n", "v"):
            scores.append(1.0)
            continue
        values = [value for ic in counts if (value := information_content(sense, ic)) < 1e300]
        scores.append(math.fsum(values) / len(values) if values else find_rarest(counts, sense.pos()))
    return scores


def read_counts(folder: Path) -> list[Any]:
    """The five files of information content, as NLTK reads them."""
    import nltk
    from nltk.corpus.reader import WordNetICCorpusReader

    nltk.data.path.append(str(folder))
    reader = WordNetICCorpusReader(str(folder), r".*\.dat")
    return [reader.ic(f"ic-{corpus}.dat") for corpus in ("bnc", "brown", "semcor", "shaks", "treebank")]


_rarest: dict[tuple[int, str], float] = {}


def find_rarest(counts: Sequence[Any], part: str) -> float:
    """The largest information content of any sense, worked out once."""
    if (id(counts), part) not in _rarest:
        senses = {offset for ic in counts for offset, count in ic[part].items() if offset and count}
        _rarest[id(counts), part] = max(
            math.fsum(values) / len(values)
            for offset in senses
            if (values := [-math.log(ic[part][offset] / ic[part][0]) for ic in counts if ic[part][offset]])
        )
    return _rarest[id(counts), part]
