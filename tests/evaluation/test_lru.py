from textveil.evaluation.lru import LruCache


def test_what_was_not_asked_for_the_longest_goes_first():
    made = []

    def make(name):
        return held.get(name, lambda: made.append(name) or name.upper())

    held = LruCache(2)
    assert [make(name) for name in "abacab"] == ["A", "B", "A", "C", "A", "B"]
    assert made == ["a", "b", "c", "b"]
