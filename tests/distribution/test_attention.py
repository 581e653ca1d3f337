import numpy as np
import pytest

from tests.distribution.plain import attend_plainly, load_plainly
from textveil.errors import ResourceError
from textveil.methods.distribution.allocation import allocate
from textveil.methods.distribution.attention import Attention
from textveil.text.documents import Document
from textveil.text.stopwords import ENGLISH

TEXTS = [
    "word",
    "The naïve waiter's café_42 was naïve, well-known and naïve!",
    "Don't panic: the antidisestablishmentarian film (1999) was good; the plot bad.",
    "  Žižek\tsaid \u201cno\u201d 🙂 twice — no, no.  ",
    "",
    "...",
]


def parse(texts):
    return list(map(Document.parse, texts))


def check(folder, texts):
    documents = parse(texts)
    scores = Attention(model=folder, batch_size=4).score(documents)
    model, tokenizer = load_plainly(folder, attn_implementation="eager")
    for document, row in zip(documents, scores, strict=True):
        assert row == pytest.approx(attend_plainly(model, tokenizer, document), abs=1e-6)
    return scores


def test_it_is_what_transformers_gives(minilm, real_texts):
    scores = check(minilm, [*TEXTS, *(" ".join(text.split()[:60]) for text in real_texts[:4])])
    assert scores[4:6] == [[], []]
    assert len(set(scores[1])) == len(scores[1])  # also those of a word that is repeated


def test_it_is_what_transformers_gives_for_twelve_layers(gte_small, real_texts):
    check(gte_small, [*TEXTS, *real_texts[:1]])


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")  # DeBERTa's own
@pytest.mark.parametrize("family", ["Bert", "Roberta", "DistilBert", "Electra", "MPNet", "DebertaV2", "Albert"])
def test_any_bert_like_encoder_will_do(make_encoder, family):
    options = {"embedding_size": 8} if family in ("Electra", "Albert") else {}
    if family == "DistilBert":
        options = {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 8}
    scores = check(make_encoder(family, **options), TEXTS)
    assert max(scores[2]) > 1.1 * min(scores[2])  # not all the same, as if it were untrained


def test_every_word_of_a_long_text_gets_a_share(minilm, real_texts):
    document = Document.parse(" ".join(" ".join(real_texts[:20]).split()[:3000]))
    assert len(document.words) >= 3000
    (scores,) = Attention(model=minilm).score([document])
    takes_part = [word not in ENGLISH for word in document.words]
    shares = allocate(scores, takes_part, budget=100.0, invert=True)
    assert [share > 0 for share in shares] == takes_part


def test_a_window_is_read_as_if_it_were_all_there_is(minilm, real_texts):
    distributor = Attention(model=minilm)
    text = " ".join(" ".join(real_texts[:4]).split()[:700])
    (scores,) = distributor.score([Document.parse(text)])
    tokens = distributor.encoder.tokenizer(
        text, add_special_tokens=False, return_offsets_mapping=True, truncation=False
    )
    end_of_window = tokens["offset_mapping"][distributor.encoder.capacity - 1][1]
    (first,) = distributor.score([Document.parse(text[:end_of_window])])
    assert scores[:250] == pytest.approx(first[:250], abs=1e-6)


def test_windows_have_scores_of_the_same_size(minilm, real_texts):
    # The last window is as long as the others: attention is shared by as many tokens everywhere.
    text = " ".join(" ".join(real_texts).split()[:1000])
    (scores,) = Attention(model=minilm).score([Document.parse(text)])
    quarters = [np.mean(part) for part in np.array_split(np.array(scores), 4)]
    assert max(quarters) < 1.25 * min(quarters)


@pytest.mark.parametrize("batch_size", [1, 64])
def test_scores_do_not_depend_on_batch_or_order(minilm, real_texts, batch_size):
    documents = parse([*TEXTS, *(" ".join(text.split()[:50]) for text in real_texts[:4])])
    expected = Attention(model=minilm).score(documents)
    scores = Attention(model=minilm, batch_size=batch_size).score(documents[::-1])[::-1]
    for row, other in zip(scores, expected, strict=True):
        assert row == pytest.approx(other, abs=1e-6)


def test_a_text_of_200_000_words(make_encoder):
    encoder = make_encoder()
    document = Document.parse("some words are repeated very often indeed " * (200_000 // 7 + 1))
    (scores,) = Attention(model=encoder).score([document])
    assert len(scores) == len(document.words) >= 200_000
    assert None not in scores


def test_a_broken_encoder(make_encoder):
    with pytest.raises(ResourceError, match="returns values that are not finite"):
        Attention(model=make_encoder(weights=float("nan"))).score(parse(["some words"]))
