"""English abbreviations: a period after one of them does not by itself end a sentence."""

from __future__ import annotations

TITLES = frozenset(
    """
    mr mrs ms messrs mme mlle mx dr drs prof rev hon pres gov sen rep amb atty supt
    gen adm brig col lt maj capt cmdr cpt cpl sgt pvt pfc insp
    """.split()
)
"""Titles that stand before a name, so no sentence ends after them."""
ENGLISH_ABBREVIATIONS = TITLES | frozenset(
    """
    fr sr jr esq phd det
    st mt ft ave blvd rd hwy apt bldg
    jan feb apr jun jul aug sep sept oct nov dec tue tues thu thur thurs
    inc ltd co corp bros assn dept univ inst
    vs viz etc al cf ca approx est vol vols eds fig figs pp ch cit ibid
    oz lb lbs kg hr hrs tel ext
    """.split()
)
