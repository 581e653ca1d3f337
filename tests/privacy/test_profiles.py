import pytest

from textveil.errors import ProfileError, UnknownNameError
from textveil.privacy.profiles import PAPER, PROFILES, PROVEN, STRICT, load_profile


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


def test_an_unknown_profile_is_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'strict'"):
        load_profile("stict")
