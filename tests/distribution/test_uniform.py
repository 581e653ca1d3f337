from textveil.methods.distribution.allocation import allocate
from textveil.methods.distribution.uniform import Uniform
from textveil.text.documents import Document


def test_every_word_has_the_same_score():
    uniform = Uniform()
    assert uniform.score([Document.parse("One, two, three"), Document.parse("")]) == [[1.0, 1.0, 1.0], []]
    assert uniform.data_independent
    assert not uniform.invert


def test_shares_are_equal():
    (scores,) = Uniform().score([Document.parse("the cold soup")])
    assert allocate(scores, [False, True, True], budget=10) == [0.0, 5.0, 5.0]
