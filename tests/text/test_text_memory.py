"""Long texts: parsed like short ones, in little memory."""

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from textveil.text.documents import Document, _parse_long, _parse_short

any_text = st.text(st.characters(exclude_categories=()), max_size=200)
mixed_text = st.text(st.sampled_from("ab Éİς.!?\n…’_9²я\u0301\u200b\xad\x85\xa0ⓟ"))


@given(any_text | mixed_text)
def test_a_long_text_is_parsed_like_a_short_one(text):
    assert _parse_long(text) == _parse_short(text)


def test_documents_can_be_compared_and_hashed():
    assert {Document.parse("One. Two."), Document.parse("One. Two.")} == {Document.parse("One. Two.")}


def test_a_text_of_pauses_needs_little_memory():
    program = """
import resource
from textveil.text.documents import Document
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
document = Document.parse(". " * 5_000_000)
assert len(document.pauses) == 5_000_000
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 300, "MiB for 10 MB of text"
