import time

from textveil.progress import ignore_progress
from textveil.resources.watching import watching


def test_the_size_of_a_growing_folder_is_reported(tmp_path):
    reports = []
    with watching(tmp_path, "tiny", 4000, lambda *report: reports.append(report)):
        (tmp_path / "deep").mkdir()
        (tmp_path / "deep" / "part").write_bytes(b"x" * 3000)
        deadline = time.monotonic() + 10
        while ("downloading tiny", 3, 0.75) not in reports and time.monotonic() < deadline:
            time.sleep(0.05)
    assert ("downloading tiny", 3, 0.75) in reports


def test_without_a_receiver_nothing_is_reported(tmp_path):
    with watching(tmp_path, "tiny", 1, ignore_progress):
        pass
