import numpy as np
import pytest
from randomgen import ChaCha

from textveil.errors import ParameterError
from textveil.randomness import SeededRandomness, SystemRandomness, build_randomness


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


def test_streams_of_neighboring_documents_do_not_overlap():
    source = SeededRandomness(1)
    first = source.stream(0).bit_generator.random_raw(10_000)
    second = source.stream(1).bit_generator.random_raw(10_000)
    assert not set(first.tolist()) & set(second.tolist())


@pytest.mark.parametrize("seed", [1.5, "7", True])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(ParameterError, match="`seed` must be a whole number"):
        build_randomness(seed)
