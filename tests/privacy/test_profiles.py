import pytest

from textveil.budget import Budget
from textveil.errors import ProfileError, UnknownNameError
from textveil.profiles import PAPER, PROFILES, PROVEN, STRICT, load_profile


def test_the_profiles_of_the_design():
    assert list(PROFILES) == ["strict", "paper", "proven"]
    assert load_profile("paper") is PAPER
    assert [profile.releases_unperturbed for profile in PROFILES.values()] == [False, True, False]
    assert (STRICT.missing, PAPER.missing, PROVEN.missing) == ("mean", "zero", "mean")


@pytest.mark.parametrize(
    ("profile", "wanted", "chosen"),
    [
        (STRICT, None, "keep"),
        (STRICT, "keep", "keep"),
        (STRICT, "perturb", "perturb"),
        (PAPER, None, "keep"),
        (PROVEN, None, "perturb"),
    ],
)
def test_stopwords_are_treated_as_wanted_where_the_profile_allows(profile, wanted, chosen):
    assert profile.choose_stopwords(wanted) == chosen


@pytest.mark.parametrize(("profile", "wanted"), [(PAPER, "perturb"), (PROVEN, "keep"), (STRICT, "drop")])
def test_other_wishes_are_refused(profile, wanted):
    with pytest.raises(ProfileError, match=f"profile '{profile.name}' needs `stopwords` to be "):
        profile.choose_stopwords(wanted)


@pytest.mark.parametrize(
    ("profile", "forms", "earlier"),
    [(STRICT, ["plain", "keep"], "keep"), (PAPER, ["keep"], "keep"), (PROVEN, ["plain", "bare"], "bare")],
)
def test_a_form_is_chosen_where_the_profile_allows(profile, forms, earlier):
    assert [profile.choose_form(form) for form in (None, *forms)] == [forms[0], *forms]
    assert profile.earlier_form == earlier
    for refused in {"keep", "plain", "bare", "other"} - set(forms):
        with pytest.raises(ProfileError, match=f"profile '{profile.name}' needs `form` to be "):
            profile.choose_form(refused)


def test_what_is_not_written_is_protected():
    plain = STRICT.written("plain")
    assert set(STRICT.not_protected) - set(plain.not_protected) == {"the text between words: spaces and punctuation"}
    assert "differ in their other chunks, in case, and in the text between words" in plain.neighbors
    assert STRICT.written("keep") is STRICT
    assert PROVEN.written("plain") is PROVEN


def test_an_unknown_profile_is_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'strict'"):
        load_profile("stict")


@pytest.mark.parametrize(
    ("profile", "wanted", "length"),
    [("strict", None, "own"), ("strict", "average", "average"), ("paper", None, "average"), ("paper", "own", "own")],
)
def test_the_profile_settles_what_a_budget_per_word_means(profile, wanted, length):
    chosen = load_profile(profile).choose_budget(Budget(epsilon_per_word=2.0, length=wanted))
    assert (chosen.length, chosen.epsilon_per_word) == (length, 2.0)
    assert load_profile(profile).choose_budget(Budget(3.0)) == Budget(3.0)


def test_under_proven_no_document_may_change_the_budget_of_another():
    assert load_profile("proven").choose_budget(Budget(epsilon_per_word=2.0)).length == "own"
    with pytest.raises(ProfileError, match="'proven' does not allow `length='average'`"):
        load_profile("proven").choose_budget(Budget(epsilon_per_word=2.0, length="average"))


def test_the_claim_of_proven_covers_unknown_words_with_and_without_a_spelling_table():
    assert "not in the vocabulary is placed by its spelling, or at the center" in load_profile("proven").claim
