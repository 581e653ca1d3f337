import copy

from textveil.certificate import Versions


def test_versions_are_looked_up_once_and_only_if_asked_for():
    calls = []

    def find():
        calls.append(1)
        return {"textveil": "1.0", "numpy": "2.0"}

    versions = Versions(find)
    assert not calls
    assert dict(versions) == {"textveil": "1.0", "numpy": "2.0"}
    assert versions == {"textveil": "1.0", "numpy": "2.0"}
    assert (versions["numpy"], len(versions), list(versions)) == ("2.0", 2, ["textveil", "numpy"])
    assert repr(versions) == "{'textveil': '1.0', 'numpy': '2.0'}"
    assert calls == [1]


def test_another_process_gets_the_versions_of_this_one():
    versions = Versions(lambda: {"textveil": "1.0"})
    assert copy.deepcopy(versions) == {"textveil": "1.0"}
