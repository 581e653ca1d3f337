"""Train the tagger and the chunker of the decomposition ``pos`` on CoNLL-2000, and print their accuracy.

    python -m scripts.train_pos_models CONLL2000_FOLDER --output src/textveil/text/pos.npz

Sentences are prepared like texts for obfuscation: lowercase, without punctuation. NLTK trains a perceptron tagger and
a bigram tagger over tags; their weights are written as tables. With --nltk-tagger, the tagger that NLTK ships is
measured on the same sentences. Training takes a minute.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt
from nltk.tag import BigramTagger, DefaultTagger, UnigramTagger
from nltk.tag.perceptron import PerceptronTagger as NltkTagger

from scripts.conll import OUTSIDE, Agreement, TaggedSentence, read_conll, tag_sentences
from textveil.storage.atomic import writing
from textveil.text.tagging import PerceptronTagger, PhraseTagger

ITERATIONS = 5  # NLTK's default
SEED = 1  # NLTK shuffles the sentences between iterations


def train_tagger(sentences: Sequence[TaggedSentence]) -> PerceptronTagger:
    """Train NLTK's perceptron tagger."""
    random.seed(SEED)
    tagger = NltkTagger(load=False)
    tagger.train([list(zip(sentence.words, sentence.tags, strict=True)) for sentence in sentences], nr_iter=ITERATIONS)
    return PerceptronTagger.of(*tagger.encode_json_obj())


def train_chunker(sentences: Sequence[TaggedSentence], tagger: PerceptronTagger) -> PhraseTagger:
    """Train NLTK's bigram tagger on tags, with its unigram tagger as back-off."""
    pairs = [list(zip(sentence.tags, sentence.chunks, strict=True)) for sentence in sentences]
    chunker = BigramTagger(pairs, backoff=UnigramTagger(pairs, backoff=DefaultTagger(OUTSIDE)))
    chunk_tags = sorted({chunk for sentence in sentences for chunk in sentence.chunks} | {OUTSIDE})
    table = [[chunker.tag_one(["", tag], 1, [before]) for tag in tagger.tags] for before in chunk_tags]
    table.append([chunker.tag_one([tag], 0, []) for tag in tagger.tags])
    return PhraseTagger(tagger, tuple(chunk_tags), np.array([[chunk_tags.index(tag) for tag in row] for row in table]))


def save(phrases: PhraseTagger, stream: IO[bytes]) -> None:
    """Write all tables to one file, as ``PhraseTagger.load`` reads them."""
    tagger = phrases.tagger
    rows, tags = np.nonzero(tagger.weights[:-1])
    np.savez_compressed(
        stream,
        tags=pack(tagger.tags),
        features=pack(tagger.features),
        rows=np.bincount(rows, minlength=len(tagger.features)).astype(np.uint8),
        columns=tags.astype(np.uint8),
        weights=tagger.weights[rows, tags],
        fixed_words=pack(list(tagger.fixed)),
        fixed_tags=np.array(list(tagger.fixed.values()), dtype=np.uint8),
        chunk_tags=pack(phrases.chunk_tags),
        table=phrases.table.astype(np.uint8),
    )


def pack(names: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Names as the bytes of lines."""
    return np.frombuffer("\n".join(names).encode(), dtype=np.uint8)


def report(name: str, phrases: PhraseTagger, sentences: Sequence[TaggedSentence]) -> None:
    """Print the agreement of predicted tags with the corpus."""
    agreement = Agreement.of(sentences, tag_sentences(phrases, sentences))
    print(f"{name}: {agreement.words:,} words, {agreement.tag_accuracy:.2%} correct tags, F1 {agreement.chunk_f1:.2%}")


def main() -> None:
    """Train the models, measure them and write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("conll", type=Path, help="the folder with train.txt and test.txt")
    parser.add_argument("--output", type=Path, required=True, help="the file to write")
    parser.add_argument("--nltk-tagger", type=Path, help="the folder of the tagger that NLTK ships, for comparison")
    options = parser.parse_args()
    train, test = read_conll(options.conll / "train.txt"), read_conll(options.conll / "test.txt")
    phrases = train_chunker(train, train_tagger(train))
    report("textveil", phrases, test)
    if options.nltk_tagger is not None:
        report("NLTK", phrases.with_tagger(PerceptronTagger.load_nltk(options.nltk_tagger)), test)
    with writing(options.output) as stream:
        save(phrases, stream)
    print(f"{options.output}: {options.output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
