import pytest

from textveil.errors import ResourceError
from textveil.lab.corpus.wordnet import list_expressions, read_meanings
from textveil.resources import find

FILES = {
    "index.noun": "  1 This software and database\nhot_dog n 2 1 @ 3 1 07697537 10104064  \ndog n 1 1 @ 1 1 1  \n"
    "attorney_general n 1 1 @ 1 1 09820263  \ncherry_tree n 1 1 @ 1 1 1  \nbox_wrench n 1 0 1 1 1  \n"
    "jack-in-the-box n 1 0 1 0 1  \n",
    "noun.exc": "attorneys_general attorney_general\nfeet foot\ncherry_trees cherry_treeing\n",
    "index.verb": "take_place v 1 1 @ 1 1 1  \n",
    "verb.exc": "took take\n",
    "index.adj": "  1 text\nwell_off a 1 0 1 1 1  \n",
    "adj.exc": "better good\n",
    "index.adv": "of_the_best_of_all r 1 0 1 1 1  \nat_all r 1 0 1 1 1  \n",
    "adv.exc": "best well\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def test_entries_and_their_forms_by_hand(folder):
    found = set(list_expressions(folder))
    assert {"hot dog", "hot dogs", "attorney general", "attorneys general", "attorney generals", "at all"} <= found
    assert {"take place", "take places", "take placed", "take placing", "take placeing"} <= found
    assert {"well off", "well offer", "well offest"} <= found
    assert "cherry trees" not in found  # its exception leads to no entry, and rules are not for exceptions
    assert "of the best of all" not in found  # five words
    assert {"box wrench", "box wrenches", "box wrenchs"} <= found
    assert all(2 <= len(ngram.split(" ")) <= 4 and "-" not in ngram for ngram in found)


@pytest.mark.parametrize("damage", ["missing", "empty", "binary"])
def test_a_damaged_folder_is_refused_with_the_command_that_repairs_it(folder, damage):
    path = folder / "index.verb"
    path.unlink()
    if damage != "missing":
        path.write_bytes(b"" if damage == "empty" else b"\xff\xfe\x00")
    with pytest.raises(ResourceError, match=r"index\.verb.*textveil resources install wordnet"):
        list_expressions(folder)


@pytest.fixture(scope="module")
def meanings():
    return read_meanings(find("wordnet"))


def test_entries_are_told_apart_by_their_meanings(meanings):
    assert {"rose", "roses", "grace", "mice", "ran", "bigger", "jack_of_all_trades"} <= meanings.common
    assert {"paris", "new_york", "st_louis", "germans", "english", "monday"} <= meanings.proper
    assert {"einstein", "paris", "martin_luther_king", "sherlock_holmes"} <= meanings.people
    assert meanings.common.isdisjoint({"paris", "new_york", "einstein", "yess", "redford"})
    assert meanings.proper.isdisjoint({"redford", "martin_luther_king", "sherlock_holmes"})
    assert {"angeles", "york", "kong"} <= meanings.parts_of_proper
    assert not meanings.know("definately")


def test_an_entry_is_offensive_if_its_first_meaning_is(meanings):
    assert {"wetback", "wetbacks", "bullshit", "white_trash"} <= meanings.offensive
    assert meanings.offensive.isdisjoint({"boy", "queen", "spade", "suit", "tool"})


def test_damaged_meanings_are_refused_with_the_command_that_repairs_them(folder):
    (folder / "data.noun").write_text("00001740 03 n xx entity 0 000 | that which\n")
    with pytest.raises(ResourceError, match=r"data\.noun.*textveil resources install wordnet"):
        read_meanings(folder)
