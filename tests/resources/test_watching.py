import time

from textveil.progress import ignore_progress
from textveil.resources.watching import watching


def test_the_size_of_a_folder_is_told_while_it_grows(tmp_path):
    told = []
    with watching(tmp_path, "tiny", 4000, lambda *report: told.append(report)):
        (tmp_path / "deep").mkdir()
        (tmp_path / "deep" / "part").write_bytes(b"x" * 3000)
        deadline = time.monotonic() + 10
        while ("downloading tiny", 3, 0.75) not in told and time.monotonic() < deadline:
            time.sleep(0.05)
    assert ("downloading tiny", 3, 0.75) in told


def test_nobody_is_told_when_nobody_listens(tmp_path):
    with watching(tmp_path, "tiny", 1, ignore_progress):
        pass
