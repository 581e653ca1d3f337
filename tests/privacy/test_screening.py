import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.errors import ParameterError, ProfileError, UnknownNameError
from textveil.profiles import PROFILES
from textveil.redaction import Screen, check_treatment, cover, mark, merge_found, redact, widen, write_kind
from textveil.text.documents import Chunk, Document
from textveil.text.identifiers import Found


class Given:
    """A finder that finds what it was given."""

    versions = {"finder": "1"}  # noqa: RUF012
    model_used = {"name": "given", "sha256": "0"}  # noqa: RUF012

    def __init__(self, *found: Found) -> None:
        self.found = found

    def find(self, texts):
        return [list(self.found) for _ in texts]


def test_identifiers_that_overlap_become_one():
    found = [Found(0, 4, "URL"), Found(2, 9, "LOCATION"), Found(8, 12, "DATE_TIME"), Found(12, 15, "PERSON")]
    assert merge_found(found) == [Found(0, 12, "URL"), Found(12, 15, "PERSON")]
    assert merge_found([Found(0, 20, "PERSON"), Found(3, 5, "PERSON"), Found(6, 9, "URL")]) == [Found(0, 20, "PERSON")]
    assert merge_found([]) == []


def test_a_part_of_a_word_covers_all_of_it():
    document = Document.parse("Ann Lee, (555) 12.")
    assert cover(document, 1, 2) == Chunk(0, 1)
    assert cover(document, 3, 4) == Chunk(1, 1)
    assert widen(document, [Found(1, 5, "PERSON"), Found(7, 9, "URL"), Found(9, 17, "PHONE_NUMBER")]) == [
        Found(0, 7, "PERSON"), Found(9, 17, "PHONE_NUMBER")
    ]  # fmt: skip


def test_redaction_leads_back_to_the_original():
    original = Document.parse("Dear Ann Lee, call (555) 12-34, now!")
    screened = redact(original, [Found(5, 12, "PERSON"), Found(19, 30, "PHONE_NUMBER")])
    assert screened.document.text == "Dear <PERSON>, call <PHONE_NUMBER>, now!"
    assert screened.document.words == ("dear", "person", "call", "phone_number", "now")
    located = [screened.locate(Chunk(i, i + 1), screened.document.spans[i]) for i in range(5)]
    assert [chunk for chunk, _ in located] == [Chunk(0, 1), Chunk(1, 3), Chunk(3, 4), Chunk(4, 7), Chunk(7, 8)]
    assert [original.text[slice(*span)] for _, span in located] == ["Dear", "Ann Lee", "call", "(555) 12-34", "now"]
    assert screened.count() == {"PERSON": 1, "PHONE_NUMBER": 1}
    assert [screened.document.text[code.start : code.stop] for code in screened.codes] == ["<PERSON>", "<PHONE_NUMBER>"]


@given(st.text(max_size=40), st.lists(st.tuples(st.integers(0, 40), st.integers(1, 12)), max_size=4))
def test_words_outside_identifiers_stay_whatever_the_text(text, spans):
    original = Document.parse(text)
    found = [Found(start, min(start + size, len(text)), "PERSON") for start, size in spans if start < len(text)]
    merged = merge_found(widen(original, found))
    screened = redact(original, merged)
    gone = {place for each in merged for place in range(*cover(original, each.start, each.stop))}
    kept = [word for place, word in enumerate(original.words) if place not in gone]
    placeholders = {chunk.start for chunk in screened.redactions}
    assert len(placeholders) == len(merged)
    assert all(chunk.size == 1 for chunk in screened.redactions)
    assert [word for place, word in enumerate(screened.document.words) if place not in placeholders] == kept
    chunks = [Chunk(place, place + 1) for place in range(len(screened.document.words))]
    located = [screened.locate(chunk, screened.document.span(chunk))[0] for chunk in chunks]
    assert [0, *(chunk.stop for chunk in located)] == [*(chunk.start for chunk in located), len(original.words)]


def test_marked_words():
    screened = mark(Document.parse("the Bank of England is old"), [Found(4, 19, "ORGANIZATION")])
    assert screened.marked == {1, 2, 3}
    assert screened.is_marked(Chunk(3, 5))
    assert not screened.is_marked(Chunk(4, 6))
    assert screened.document is screened.original


def test_a_screen_looks_for_its_kinds():
    finder = Given(Found(0, 3, "PERSON"), Found(4, 7, "MONEY"))
    (screened,) = Screen("redact", finder).screen(["Ann ten"])
    assert screened.document.text == "<PERSON> ten"
    (screened,) = Screen("redact", finder, ["MONEY"]).screen(["Ann ten"])
    assert screened.document.text == "Ann <MONEY>"
    assert Screen("perturb", finder, ["A B"]).as_dict() == {
        "treatment": "perturb", "kinds": ["A B"], "model": {"name": "given", "sha256": "0"}
    }  # fmt: skip
    assert write_kind("A B-c") == "<A_B_c>"


def test_what_a_profile_allows():
    with pytest.raises(ProfileError, match="'proven' does not allow `identifiers='redact'`"):
        check_treatment(PROFILES["proven"], "redact")
    with pytest.raises(ProfileError):
        check_treatment(PROFILES["proven"], Screen("redact", Given()))
    screen = Screen("perturb", Given())
    check_treatment(PROFILES["proven"], screen)
    check_treatment(PROFILES["strict"], None)
    with pytest.raises(UnknownNameError, match="Did you mean 'redact'"):
        check_treatment(PROFILES["strict"], "redacted")


def test_only_the_screen_of_textveil_reaches_workers():
    assert Screen("redact").for_workers() == "redact"
    for own in (Screen("redact", Given()), Screen("perturb", kinds=["PERSON"])):
        with pytest.raises(ParameterError, match="Give `identifiers` as 'redact' or 'perturb'"):
            own.for_workers()


def test_an_identifier_takes_the_words_and_codes_that_it_touches():
    (screened,) = Screen("redact", Given(Found(9, 12, "PERSON"))).screen(["I phoned _Ann_ again."])
    assert screened.document.text == "I phoned <PERSON> again."
    (screened,) = Screen("redact", Given(Found(18, 21, "PERSON"))).screen(["see http://who.it/Zqw?me=very&only=now"])
    assert screened.document.text == "see <PERSON>"


@pytest.mark.parametrize("kinds", ["PERSON", (), ("",)])
def test_kinds_that_would_find_nothing_are_refused(kinds):
    with pytest.raises(ParameterError, match="`kinds` must be several names"):
        Screen("redact", Given(), kinds)


def test_an_unknown_kind_is_refused_by_a_finder_that_knows_its_kinds():
    with pytest.raises(UnknownNameError, match="There is no kind of identifier 'PERSN'"):
        Screen("redact", kinds=["PERSN"])
