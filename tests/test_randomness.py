import copy
import hashlib

import numpy as np
import pytest
from randomgen import ChaCha

from textveil.errors import ParameterError
from textveil.randomness import (
    KeyedRandomness,
    SeededRandomness,
    Streams,
    SystemRandomness,
    _can_be_set,
    build_randomness,
)


def test_the_generator_is_chacha20():
    # RFC 8439, appendix A.1, test vectors 1 and 2: key 0, nonce 0, blocks 0 and 1.
    expected = bytes.fromhex(
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
        "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f"
    )
    assert ChaCha(key=0).random_raw(16).astype("<u8").tobytes() == expected


def test_streams_of_the_system_never_repeat():
    source = build_randomness()
    assert isinstance(source, SystemRandomness)
    assert not source.predictable
    draws = {source.stream(0).integers(2**63) for _ in range(1000)}
    assert len(draws) == 1000


def test_the_same_seed_gives_the_same_streams():
    first, second = build_randomness(7), build_randomness(7)
    assert first.predictable
    assert first.fingerprint == second.fingerprint
    np.testing.assert_array_equal(first.stream(5).random(100), second.stream(5).random(100))


def test_every_document_and_seed_has_its_own_stream():
    streams = [SeededRandomness(seed).stream(document).random(4) for seed in range(20) for document in range(20)]
    assert len({tuple(stream) for stream in streams}) == 400
    assert SeededRandomness(1).fingerprint != SeededRandomness(2).fingerprint


def test_streams_of_documents_do_not_overlap():
    # A document of a thousand words draws about 300,000 numbers of 64 bits.
    source = SeededRandomness(1)
    documents = [0, 1, 2, 3, 2**31, 2**32, 2**40]
    drawn = [source.stream(document).bit_generator.random_raw(300_000) for document in documents]
    assert len(np.unique(np.concatenate(drawn))) == 300_000 * len(documents)


def block_of_chacha20(key: bytes, number: int) -> bytes:
    """A block by definition (RFC 8439, section 2.3), with a counter of 128 bits in place of counter and nonce."""
    start = [
        int.from_bytes(part, "little") for part in chunked(b"expand 32-byte k" + key + number.to_bytes(16, "little"))
    ]
    state = list(start)
    columns = [(i, i + 4, i + 8, i + 12) for i in range(4)]
    diagonals = [(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4) for i in range(4)]
    for a, b, c, d in (columns + diagonals) * 10:
        for x, y, z, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            state[x] = (state[x] + state[y]) % 2**32
            mixed = state[z] ^ state[x]
            state[z] = (mixed << turn | mixed >> (32 - turn)) % 2**32
    return b"".join(((x + y) % 2**32).to_bytes(4, "little") for x, y in zip(state, start, strict=True))


def chunked(content: bytes) -> list[bytes]:
    return [content[start : start + 4] for start in range(0, len(content), 4)]


@pytest.mark.parametrize("document", [0, 1, 7, 2**32, 2**40])
def test_the_number_of_a_document_selects_a_range_of_blocks(document):
    key = hashlib.sha256(b"textveil seed 5").digest()
    drawn = SeededRandomness(5).stream(document).bit_generator.random_raw(24).astype("<u8").tobytes()
    assert drawn == b"".join(block_of_chacha20(key, document * 2**60 + block) for block in range(3))


@pytest.mark.parametrize("seed", [1.5, "7", True])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(ParameterError, match="`seed` must be a whole number"):
        build_randomness(seed)


def test_keyed_noise_is_repeated_for_the_same_secret_and_number_only():
    def draw(secret: bytes, number: int) -> float:
        return KeyedRandomness(secret).stream(number).random()

    assert draw(b"one", 5) == draw(b"one", 5)
    assert len({draw(b"one", 5), draw(b"one", 6), draw(b"two", 5), draw(b"one", 5 + 2**256)}) == 4
    assert KeyedRandomness(b"one").fingerprint != KeyedRandomness(b"two").fingerprint


@pytest.mark.parametrize("source", [SeededRandomness(5), KeyedRandomness(b"secret")])
def test_streams_that_are_used_again_are_as_new(source):
    assert _can_be_set()
    streams = Streams()
    with streams.open(source, [3, 4]) as used:
        for generator in used:
            generator.random(7)
            generator.standard_gamma(3, size=5)
            generator.integers(9, dtype=np.int32)  # half of 64 bits
    documents = [0, 2**32, 2**40 + 1]
    with streams.open(source, documents) as again:
        assert set(map(id, used)) < set(map(id, again))
        for generator, document in zip(again, documents, strict=True):
            new = source.stream(document)
            np.testing.assert_array_equal(generator.bit_generator.random_raw(50), new.bit_generator.random_raw(50))
            np.testing.assert_array_equal(generator.standard_normal(20), new.standard_normal(20))


def test_streams_of_the_system_never_repeat_where_generators_do():
    streams, draws = Streams(), set()
    for _ in range(100):
        with streams.open(SystemRandomness(), range(10)) as used:
            draws |= {generator.integers(2**63) for generator in used}
    assert len(draws) == 1000


def test_the_key_of_a_document_is_forgotten():
    streams, source = Streams(), SeededRandomness(1)
    with streams.open(source, [1]) as used:
        drawn = used[0].random(5)
    assert used[0].bit_generator.state["state"]["keysetup"].tobytes() != source.locate(1)[0]
    assert not set(used[0].random(5)) & {*drawn, *source.stream(1).random(20)}
    assert copy.deepcopy(streams)._idle == []


def test_no_generator_is_used_again_after_an_error():
    streams = Streams()
    with pytest.raises(ZeroDivisionError), streams.open(SeededRandomness(1), [1]) as used:
        _ = 1 / 0
    with streams.open(SeededRandomness(1), [1]) as again:
        assert again[0] is not used[0]


def test_generators_are_used_once_if_they_cannot_start_anew(monkeypatch):
    monkeypatch.setattr("textveil.randomness._can_be_set", lambda: False)
    streams = Streams()
    with streams.open(SeededRandomness(1), [1]) as used:
        used[0].random(3)
    with streams.open(SeededRandomness(1), [1]) as again:
        assert again[0] is not used[0]
