r"""English stopwords: the list of NLTK, as words (runs of ``\w``)."""

from __future__ import annotations

ENGLISH = frozenset(
    """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
    it its itself they them their theirs themselves
    what which who whom this that these those
    am is are was were be been being have has had having do does did doing
    a an the and but if or because as until while of at by for with about against between into through during before
    after above below to from up down in out on off over under again further then once here there when where why how
    all any both each few more most other some such no nor not only own same so than too very can will just should now
    s t d ll m o re ve y don ain aren couldn didn doesn hadn hasn haven isn ma mightn mustn needn shan shouldn wasn
    weren won wouldn
    """.split()
)


_NOT = """
    ain aren can couldn daren didn doesn don hadn hasn haven isn mayn mightn mustn needn oughtn shan shouldn wasn weren
    won wouldn
""".split()
_ENDINGS = {
    "m": "i",
    "re": "you we they who what where when why how there these those that",
    "ve": "i you we they who what there could would should might must may",
    "ll": "i you he she it we they who what where when why how there here that this these those",
    "d": "i you he she it we they who what where when why how there here that",
    "s": "he she it let who what where when why how there here that this one",
    "all": "y",
    "am": "ma",
    "clock": "o",
}

CONTRACTIONS = frozenset(
    {(word, "t") for word in _NOT} | {(word, ending) for ending, words in _ENDINGS.items() for word in words.split()}
)
