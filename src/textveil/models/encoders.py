"""BERT-like encoders that read texts of any length in batches of windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import groupby, pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textveil.errors import ResourceError
from textveil.extras import require
from textveil.models.files import EXTRA, ModelFiles, choose_device, count_threads, make_readable, reading_model
from textveil.text.documents import Document

ROWS = 512
"""The number of tokens that weights are packed for. Others can be read, too."""
_TOLERANCE = 1e-4


def pack_weights(model: Any, ids: Any) -> bool:
    """Replace the linear layers of a model, if PyTorch has the kernels and the model gives the same results.

    The weights are those of float32. PyTorch otherwise packs them again for every product. Gradients with regard to
    the inputs can be computed; the weights cannot be trained anymore.

    Args:
        model: A model in inference mode, on a CPU, as transformers or sentence-transformers has it.
        ids: Tokens to try it with.
    """
    torch = require("torch", extra=EXTRA)
    found = [
        (parent, name, layer)
        for parent in model.modules()
        for name, layer in parent.named_children()
        if type(layer) is torch.nn.Linear and layer.weight.dtype == torch.float32
    ]
    if not found or not _has_kernels():
        return False
    before = _try(model, ids)
    for parent, name, layer in found:
        setattr(parent, name, _packed_linear()(layer))
    try:
        after = _try(model, ids)
        same = before is not None and after is not None and torch.allclose(before, after, atol=_TOLERANCE)
    except (AttributeError, RuntimeError, TypeError):  # the model wants more of a layer than its product
        same = False
    if not same:
        for parent, name, layer in found:
            setattr(parent, name, layer)
    return same


def _try(model: Any, ids: Any) -> Any:
    """The last states of a model; ``None`` for a model that does not take tokens."""
    torch = require("torch", extra=EXTRA)
    with torch.inference_mode():
        try:
            if hasattr(model, "encode"):  # of sentence-transformers
                return model({"input_ids": ids, "attention_mask": torch.ones_like(ids)})["token_embeddings"]
            return model(input_ids=ids).last_hidden_state
        except (AttributeError, KeyError, TypeError, ValueError):
            return None


@cache
def _has_kernels() -> bool:
    """Whether this PyTorch has oneDNN with packed weights, as its compiler uses them."""
    torch = require("torch", extra=EXTRA)
    if not torch.backends.mkldnn.is_available():
        return False
    try:
        weights, inputs = torch.ones(16, 16), torch.ones(2, 16)
        product = torch.ops.mkldnn._linear_pointwise(
            inputs, torch.ops.mkldnn._reorder_linear_weight(weights, ROWS), None, "none", [], ""
        )
        return bool((product == 16).all())
    except (AttributeError, RuntimeError, TypeError):
        return False


@cache
def _packed_linear() -> Any:
    """The class of packed layers, which exists when PyTorch is loaded."""
    torch = require("torch", extra=EXTRA)
    pack, multiply = torch.ops.mkldnn._reorder_linear_weight, torch.ops.mkldnn._linear_pointwise

    class Product(torch.autograd.Function):  # type: ignore[misc, name-defined]
        """The product with packed weights, and the gradient with regard to the inputs."""

        @staticmethod
        def forward(context: Any, inputs: Any, layer: Any) -> Any:
            context.layer = layer
            return multiply(inputs, layer.packed, layer.bias, "none", [], "")

        @staticmethod
        def backward(context: Any, gradient: Any) -> Any:
            return multiply(gradient.contiguous(), context.layer.packed_transposed, None, "none", [], ""), None

    class PackedLinear(torch.nn.Module):  # type: ignore[misc, name-defined]
        """A linear layer with packed weights."""

        def __init__(self, layer: Any) -> None:
            super().__init__()
            self.packed = pack(layer.weight.detach(), ROWS)
            self.bias = None if layer.bias is None else layer.bias.detach()
            self._transposed: Any = None

        @property
        def packed_transposed(self) -> Any:
            """The weights for gradients, packed on first use."""
            if self._transposed is None:
                self._transposed = pack(self.packed.to_dense().t().contiguous(), ROWS)
            return self._transposed

        def forward(self, inputs: Any) -> Any:
            if torch.is_grad_enabled() and inputs.requires_grad:
                return Product.apply(inputs, self)
            return multiply(inputs, self.packed, self.bias, "none", [], "")

    return PackedLinear


DEFAULT_ENCODER = "all-minilm-l6-v2"
PAPER_ENCODER = "bert-base-uncased"
BATCH_SIZE = 8
"""Windows to read at a time."""
SHORT = 64
"""Of windows with fewer tokens, as many are read at a time as have this many tokens on average."""
FULL_PRECISION = "float32"

_UNLIMITED = 1 << 20  # a tokenizer without a limit reports 1e30

TokenNumbers: TypeAlias = NDArray[np.int64]
Values: TypeAlias = NDArray[np.float64]
Look: TypeAlias = Callable[[Any], Any]
"""From the tokens of a batch, a tensor of windows of the same length, to one row of numbers per window."""


class Window(NamedTuple):
    """The tokens ``start`` to ``stop`` of a text. Only results for its own part, ``first`` to ``last``, are used."""

    text: int
    start: int
    stop: int
    first: int
    last: int


class TokenizedText(NamedTuple):
    """The tokens of a text without special tokens, with their start and stop offsets."""

    ids: list[int]
    offsets: TokenNumbers

    def cut(self, tokens: int) -> TokenizedText:
        """The first tokens of the text."""
        return TokenizedText(self.ids[:tokens], self.offsets[:tokens])


class Encoder:
    """A model with its tokenizer. It reads texts in overlapping windows, in batches of the same length.

    No window is padded, so nothing is computed for tokens that are not there.

    Args:
        files: The files of the model.
        model: The model, which is moved to the ``device``.
        tokenizer: A fast tokenizer.
        window: The number of tokens that the model can read at a time, including special tokens.
        batch_size: Windows to read at a time.
        device: A PyTorch device, or ``cpu:THREADS``; by default a GPU if there is one.
    """

    def __init__(
        self, files: ModelFiles, model: Any, tokenizer: Any, *, window: int, batch_size: int, device: str | None
    ) -> None:
        self.torch = require("torch", extra=EXTRA)
        self.files = files
        self.device = choose_device(device)
        self._wanted_device = device
        self.model = model.to(self.device).eval().requires_grad_(False)
        self.tokenizer = tokenizer
        self.batch_size = batch_size
        if not getattr(tokenizer, "is_fast", False):
            raise self._error("has no fast tokenizer, which is needed for the offsets of tokens")
        special = tokenizer("a", return_special_tokens_mask=True)
        ids, inner = special["input_ids"], special["special_tokens_mask"].index(0)
        behind = special["special_tokens_mask"][::-1].index(0)
        self.before, self.behind = ids[:inner], ids[len(ids) - behind :]
        self.capacity = window - inner - behind
        if self.device == "cpu":
            pack_weights(self.model, self._surround([ids[inner : len(ids) - behind]]))

    @classmethod
    def load(
        cls,
        files: ModelFiles,
        *,
        attention: str | None,
        batch_size: int,
        device: str | None,
        precision: str = FULL_PRECISION,
    ) -> Encoder:
        """Load an encoder with an implementation of ``attention``, as transformers names it.

        Raises:
            ResourceError: The folder has no encoder, no fast tokenizer, or an encoder that is not BERT-like.
        """
        transformers, torch = require("transformers", extra=EXTRA), require("torch", extra=EXTRA)
        options = {"local_files_only": True, "trust_remote_code": False}
        with reading_model(files):
            tokenizer = transformers.AutoTokenizer.from_pretrained(str(files.folder), **options)
            model = transformers.AutoModel.from_pretrained(
                str(files.folder),
                attn_implementation=attention,
                dtype=getattr(torch, precision),
                use_safetensors=True,  # other weights are pickles, which can run code
                **options,
            )
        encoder = cls(files, model, tokenizer, window=_window(model, tokenizer), batch_size=batch_size, device=device)
        encoder.check_reads_both_ways()
        return encoder

    def check_reads_both_ways(self) -> None:
        """Refuse a model with a decoder, and one whose tokens do not see later tokens."""
        if getattr(self.model.config, "is_encoder_decoder", False):
            raise self._error("is not BERT-like: it has a decoder")
        ids = self.tokenizer("a b", add_special_tokens=False)["input_ids"]
        with self.torch.inference_mode():
            states = [self._states(self._surround([tokens])) for tokens in (ids, [*ids[:-1], ids[0]])]
        if self.torch.equal(states[0][:, 0], states[1][:, 0]):
            raise self._error("is not BERT-like: its tokens do not see later tokens")

    def _states(self, ids: Any) -> Any:
        try:
            return self.model(input_ids=ids).last_hidden_state
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise self._error("is not BERT-like: it does not read tokens") from error

    def read(self, texts: Sequence[str], look: Look, *, truncate: bool = False) -> list[ReadText]:
        """Read texts and collect the results of ``look`` for each window: one row of numbers per row of a batch.

        Batches run in parallel with one thread each. This uses a CPU better than all threads for one batch.

        Args:
            texts: The texts.
            look: Computes the results of a batch: the tokens of windows of the same length, with special tokens.
            truncate: Read only the first window of every text.
        """
        return self.read_tokens([text.cut(self.capacity) if truncate else text for text in self.tokenize(texts)], look)

    def read_tokens(self, texts: Sequence[TokenizedText], look: Look) -> list[ReadText]:
        """Read texts that are split into tokens already."""
        windows = [window for number, text in enumerate(texts) for window in split_windows(number, text, self.capacity)]
        batches = list(batch_windows(windows, self.batch_size))

        def look_at(batch: list[Window]) -> list[Values]:
            rows = look(self._surround([texts[window.text].ids[window.start : window.stop] for window in batch]))
            return list(self._check(rows.float().cpu().double().numpy()))  # not every device has doubles

        seen: list[list[tuple[Window, Values]]] = [[] for _ in texts]
        for batch, rows in zip(batches, self._run_in_parallel(look_at, batches), strict=True):
            for window, row in zip(batch, rows, strict=True):
                seen[window.text].append((window, row))
        return [
            ReadText(text.offsets, sorted(found, key=lambda pair: pair[0]), len(self.before))
            for text, found in zip(texts, seen, strict=True)
        ]

    def score_words(self, documents: Sequence[Document], look: Look) -> list[list[float | None]]:
        """The scores that ``look`` gives to the tokens of every window, summed by word."""
        read = self.read([document.text for document in documents], look)
        return [text.score_words(document) for text, document in zip(read, documents, strict=True)]

    def tokenize(self, texts: Sequence[str]) -> list[TokenizedText]:
        """The tokens of every text."""
        if not texts:
            return []
        encoded = self.tokenizer(
            list(map(make_readable, texts)),
            add_special_tokens=False,
            return_offsets_mapping=True,
            truncation=False,
            padding=False,
            verbose=False,  # no warning about texts longer than a window
        )
        return [
            TokenizedText(ids, np.array(offsets, dtype=np.int64).reshape(-1, 2))
            for ids, offsets in zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)
        ]

    def _surround(self, rows: Sequence[Sequence[int]]) -> Any:
        """Windows of the same length as a tensor, with special tokens at both ends."""
        return self.torch.tensor([[*self.before, *row, *self.behind] for row in rows], device=self.device)

    def _check(self, rows: Values) -> Values:
        if not np.isfinite(rows).all():
            raise self._error("returns values that are not finite")
        return rows

    def _run_in_parallel(
        self, look_at: Callable[[list[Window]], list[Values]], batches: list[list[Window]]
    ) -> Iterator[list[Values]]:
        if self.device != "cpu":
            yield from map(look_at, batches)
            return
        before, workers = self.torch.get_num_threads(), count_threads(self._wanted_device)
        try:
            if workers == 1 or len(batches) < 2:
                self.torch.set_num_threads(workers)
                yield from map(look_at, batches)
                return
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(workers, initializer=self.torch.set_num_threads, initargs=(1,)) as executor:
                yield from executor.map(look_at, batches)
        finally:
            self.torch.set_num_threads(before)

    def _error(self, trouble: str) -> ResourceError:
        return ResourceError(
            f"The encoder {self.files.name!r} {trouble}. Choose another, such as {DEFAULT_ENCODER}, "
            "or check it with: textveil resources verify"
        )


class SentenceEncoder(Encoder):
    """An encoder with a pooling layer, which gives a text one vector."""

    @classmethod
    def open(
        cls, files: ModelFiles, *, batch_size: int, device: str | None, precision: str = FULL_PRECISION
    ) -> SentenceEncoder:
        """Load a sentence encoder.

        Raises:
            ResourceError: The folder has no sentence encoder, or no fast tokenizer.
        """
        sentence_transformers = require("sentence_transformers", extra=EXTRA)
        with reading_model(files):
            model = sentence_transformers.SentenceTransformer(
                str(files.folder),
                device=choose_device(device),
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True, "dtype": precision},
            )
        return cls(files, model, model.tokenizer, window=model.max_seq_length, batch_size=batch_size, device=device)

    def embed(self, texts: Sequence[str], *, truncate: bool = False) -> Values:
        """The embedding of every text. Long texts have the mean over their windows, or are cut after the first one."""
        return np.array([text.average() for text in self.read(texts, self._look, truncate=truncate)])

    def embed_tokens(self, texts: Sequence[str]) -> list[Values]:
        """The contextual embeddings of the tokens of every text, without special tokens."""
        return [text.collect() for text in self.read(texts, self._look_at_tokens)]

    def embed_token(self, tokens: Sequence[int]) -> Values:
        """The embedding of each token, as if it were a text."""
        nowhere = np.zeros((1, 2), dtype=np.int64)
        texts = [TokenizedText([token], nowhere) for token in tokens]
        return np.array([text.average() for text in self.read_tokens(texts, self._look)])

    def _look(self, ids: Any) -> Any:
        return self._run(ids)["sentence_embedding"]

    def _look_at_tokens(self, ids: Any) -> Any:
        return self._run(ids)["token_embeddings"]

    def _run(self, ids: Any) -> Any:
        with self.torch.inference_mode():
            return self.model({"input_ids": ids, "attention_mask": self.torch.ones_like(ids)})


class ReadText(NamedTuple):
    """The results for a text: a row of numbers per window."""

    offsets: TokenNumbers
    seen: list[tuple[Window, Values]]
    before: int
    """Special tokens at the beginning of every window."""

    def score_words(self, document: Document) -> list[float | None]:
        """The scores of tokens, summed by word. Words without a token have ``None``."""
        tokens = self.collect()
        if not document.words:
            return []
        starts, stops = np.array(document.spans).T
        words = np.minimum(np.searchsorted(stops, self.offsets[:, 0], side="right"), len(starts) - 1)
        inside = (self.offsets[:, 0] < stops[words]) & (self.offsets[:, 1] > starts[words])
        words, tokens = words[inside], tokens[inside]
        scores = np.bincount(words, tokens, minlength=len(starts))
        counts = np.bincount(words, minlength=len(starts))
        return [score if count else None for score, count in zip(scores.tolist(), counts.tolist(), strict=True)]

    def collect(self) -> Values:
        """The result of every token, from the window to whose own part it belongs."""
        parts = []
        for window, row in self.seen:
            shift = self.before - window.start
            parts.append(row[window.first + shift : window.last + shift])
        return np.concatenate(parts)

    def average(self) -> Values:
        """The mean of the rows, weighted by the size of each window's own part."""
        weights = [max(1, window.last - window.first) for window, _ in self.seen]
        return np.average([row for _, row in self.seen], axis=0, weights=weights)


def split_windows(number: int, text: TokenizedText, capacity: int) -> list[Window]:
    """Split a text into windows of one size that overlap by at least a quarter. Own parts meet in mid-overlap.

    >>> text = TokenizedText([7] * 10, np.zeros((10, 2)))
    >>> [tuple(window[1:]) for window in split_windows(0, text, capacity=8)]
    [(0, 8, 0, 5), (2, 10, 5, 10)]
    """
    length = len(text.ids)
    if length <= capacity:
        return [Window(number, 0, length, 0, length)]
    overlap = capacity // 4
    gaps = -(-(length - capacity) // (capacity - overlap))
    starts = [(length - capacity) * place // gaps for place in range(gaps + 1)]
    middles = [(start + capacity + after) // 2 for start, after in pairwise(starts)]
    own = pairwise([0, *middles, length])
    return [
        Window(number, start, start + capacity, first, last) for start, (first, last) in zip(starts, own, strict=True)
    ]


def batch_windows(windows: Sequence[Window], batch_size: int) -> Iterator[list[Window]]:
    """Batches of windows of the same length, the longest first. Batches of short windows have more of them.

    >>> windows = [Window(number, 0, length, 0, length) for number, length in enumerate([90, 3, 90, 90])]
    >>> [[window.text for window in batch] for batch in batch_windows(windows, 2)]
    [[0, 2], [3], [1]]
    """
    lengths = sorted(windows, key=lambda window: window.start - window.stop)
    for length, group in groupby(lengths, key=lambda window: window.stop - window.start):
        alike = list(group)
        rows = max(batch_size, batch_size * SHORT // max(1, length))
        yield from (alike[start : start + rows] for start in range(0, len(alike), rows))


def _window(model: Any, tokenizer: Any) -> int:
    """The number of tokens that a model can read: the limit of its positions or of its tokenizer."""
    positions = getattr(model.config, "max_position_embeddings", _UNLIMITED)
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            positions = module.num_embeddings - module.padding_idx - 1  # as in RoBERTa
    return int(min(positions, tokenizer.model_max_length, _UNLIMITED))
