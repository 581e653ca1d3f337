r"""English contractions, as pairs of words (runs of ``\w``): "don't" is ``("don", "t")``."""

from __future__ import annotations

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
