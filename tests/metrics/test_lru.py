from textveil.lab.metrics.classifiers.base import LruCache


def test_the_least_recently_used_object_is_dropped_first():
    made = []

    def make(name):
        return cache.get(name, lambda: made.append(name) or name.upper())

    cache = LruCache(2)
    assert [make(name) for name in "abacab"] == ["A", "B", "A", "C", "A", "B"]
    assert made == ["a", "b", "c", "b"]
