from textveil.evaluation.held import Held


def test_what_was_not_asked_for_the_longest_goes_first():
    made = []

    def make(name):
        return held.get(name, lambda: made.append(name) or name.upper())

    held = Held(2)
    assert [make(name) for name in "abacab"] == ["A", "B", "A", "C", "A", "B"]
    assert made == ["a", "b", "c", "b"]
