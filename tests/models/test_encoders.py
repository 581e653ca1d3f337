from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.errors import ResourceError
from textveil.models.encoders import Encoder, ReadText, TokenizedText, Window, batch_windows, split_windows
from textveil.models.files import ModelFiles
from textveil.text.documents import Document


@given(st.integers(0, 3000), st.integers(4, 600))
def test_windows_cover_a_text(length, capacity):
    windows = split_windows(3, TokenizedText([7] * length, np.zeros((length, 2))), capacity)
    assert all(window.text == 3 for window in windows)
    assert [window.first for window in windows] == [0, *(window.last for window in windows[:-1])]
    assert windows[-1].last == length
    assert {window.stop - window.start for window in windows} == {min(length, capacity)}
    assert (windows[0].start, windows[-1].stop) == (0, length)
    for before, after in pairwise(windows):
        overlap = before.stop - after.start
        assert overlap >= capacity // 4
        # A token near the edge of one window is taken from the other, which sees more around it.
        assert abs((before.stop - before.last) - (after.first - after.start)) <= 1


def read(text, scores, offsets):
    window = Window(0, 0, len(scores), 0, len(scores))
    row = np.array([100.0, *scores, 100.0])  # special tokens at both ends
    return ReadText(np.array(offsets).reshape(-1, 2), [(window, row)], 1).score_words(Document.parse(text))


def test_scores_of_tokens_are_summed_by_word():
    # naïve | na|ive ,   café_42 | cafe|_|42   naïve
    offsets = [(0, 2), (2, 5), (5, 6), (7, 11), (11, 12), (12, 14), (15, 20)]
    assert read("naïve, café_42 naïve", [1, 2, 50, 4, 8, 16, 32], offsets) == [3, 28, 32]


def test_a_token_may_begin_before_its_word_or_have_none():
    assert read("don't", [1, 2], [(0, 3), (3, 5)]) == [1, 2]  # as RoBERTa has it: don|'t
    assert read("a b", [1], [(0, 1)]) == [1, None]
    assert read("!", [1], [(0, 1)]) == []
    assert read("a", [], []) == [None]


def test_the_results_of_windows_are_combined():
    windows = split_windows(0, TokenizedText([7] * 10, np.zeros((10, 2))), 8)
    rows = [np.arange(10.0), 100 + np.arange(10.0)]  # with a special token before and behind
    offsets = np.array([(2 * i, 2 * i + 1) for i in range(10)])
    text = ReadText(offsets, list(zip(windows, rows, strict=True)), 1)
    scores = text.score_words(Document.parse("a b c d e f g h i j"))
    assert scores == [1, 2, 3, 4, 5, 104, 105, 106, 107, 108]
    assert text.average().tolist() == [50 + i for i in range(10)]


def load(folder, **options):
    options = {"attention": None, "batch_size": 2, "device": None, **options}
    return Encoder.load(ModelFiles.find(folder), **options)


def test_a_folder_without_an_encoder(tmp_path):
    with pytest.raises(ResourceError, match="no readable encoder"):
        load(tmp_path)


def test_pickled_weights_are_refused(make_encoder):
    import torch

    folder = make_encoder()
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(ResourceError, match="weights as safetensors"):
        load(folder)


def test_damaged_weights(make_encoder):
    folder = make_encoder()
    (folder / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(ResourceError, match="no readable encoder"):
        load(folder)


def test_a_tokenizer_that_is_not_fast(make_encoder):
    import transformers

    with pytest.raises(ResourceError, match="has no fast tokenizer"):
        load(make_encoder(tokenizer=transformers.CanineTokenizer()))


@pytest.mark.parametrize(("family", "trouble"), [("T5", "it has a decoder"), ("GPT2", "do not see later tokens")])
def test_a_model_that_is_not_bert_like(make_encoder, family, trouble):
    with pytest.raises(ResourceError, match=f"is not BERT-like: .*{trouble}"):
        load(make_encoder(family))


def test_values_that_are_not_finite_are_refused(make_encoder):
    encoder = load(make_encoder())
    with pytest.raises(ResourceError, match="returns values that are not finite") as raised:
        encoder.read(["a secret"], lambda ids: ids * float("nan"))
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("family", "options", "capacity"),
    [
        ("Bert", {}, 510),
        ("Bert", {"max_position_embeddings": 40}, 38),
        ("Roberta", {"max_position_embeddings": 42, "pad_token_id": 1}, 38),  # its positions start behind padding
    ],
)
def test_a_window_has_as_many_tokens_as_the_model_has_positions(make_encoder, family, options, capacity):
    encoder = load(make_encoder(family, **options))
    assert encoder.capacity == capacity
    sizes = []

    def look(ids):
        encoder.model(input_ids=ids)  # which must not fail
        sizes.append(ids.shape[1])
        return ids

    encoder.read(["word " * 2000], look)
    assert max(sizes) == encoder.capacity + 2


def test_the_number_of_pytorch_threads_is_restored(make_encoder):
    import torch

    threads = torch.get_num_threads()
    encoder = load(make_encoder(), batch_size=1)
    torch.set_num_threads(2)
    try:
        seen = encoder.read(["one", "two words", "three whole words"], lambda ids: ids)
        assert [len(text.seen[0][1]) for text in seen] == [3, 4, 5]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)


def test_no_window_is_padded(make_encoder):
    encoder = load(make_encoder(), batch_size=2)
    batches = []
    encoder.read(["one", "two words", "one", "two words", "three words here"], lambda ids: batches.append(ids) or ids)
    assert sorted(map(tuple, (ids.shape for ids in batches))) == [(1, 5), (2, 3), (2, 4)]
    assert all((ids != encoder.tokenizer.pad_token_id).all() for ids in batches)


def test_many_short_windows_are_read_at_a_time():
    windows = [Window(number, 0, 2, 0, 2) for number in range(1000)]
    assert [len(batch) for batch in batch_windows(windows, 8)] == [256, 256, 256, 232]
    assert [len(batch) for batch in batch_windows([Window(0, 0, 500, 0, 500)] * 9, 8)] == [8, 1]
    assert list(batch_windows([Window(0, 0, 0, 0, 0)], 8)) == [[Window(0, 0, 0, 0, 0)]]


@pytest.mark.parametrize("threads", [1, 3])
def test_a_device_may_name_its_threads(make_encoder, threads):
    import torch

    used, before = [], torch.get_num_threads()
    encoder = load(make_encoder(), device=f"cpu:{threads}")
    encoder.read(["one text"], lambda ids: used.append(torch.get_num_threads()) or ids)
    assert (used, torch.get_num_threads(), encoder.device) == ([threads], before, "cpu")


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_a_precision_is_that_of_the_weights(make_encoder, precision):
    encoder = load(make_encoder(), precision=precision)
    assert str(encoder.model.dtype) == f"torch.{precision}"
    (seen,) = encoder.read(["a text"], lambda ids: encoder.model(input_ids=ids).last_hidden_state.sum(dim=-1))
    assert seen.seen[0][1].dtype == np.float64
