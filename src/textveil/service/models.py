"""The requests and answers of the service, as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from textveil.lab.audit.auditing import CONFIDENCE as AUDIT_CONFIDENCE
from textveil.lab.audit.auditing import FEWEST_DRAWS
from textveil.lab.calibration.search import CONFIDENCE
from textveil.settings import BUDGET_NAMES, HELP, NAMES, Settings

TEXT = "The soup was cold and the waiter rude."
MOST_ALTERNATIVES = 20
MOST_DRAWS = 5_000
"""More answers take too long for a request; the command line draws any number."""
MOST_DOCUMENTS = 200
"""Texts of a calibration. It obfuscates them about ten times."""
METHOD_NAMES = tuple(name for name in NAMES if name not in (*BUDGET_NAMES, "seed", "ledger"))
"""The settings that decide which obfuscator a request needs."""

Seed = Annotated[int | None, Field(description="Makes noise predictable. Refused unless the server allows seeds.")]


class RefusedError(Exception):
    """A request that is not done. Its message quotes no text.

    Args:
        status: The status of the answer.
        message: What is wrong, and what to do.
        kind: The class of the library's error, or another name.
        parameters: The parameters that the message names.
        headers: Headers of the answer.
    """

    def __init__(
        self,
        status: int,
        message: str,
        kind: str,
        *,
        parameters: Iterable[str] = (),
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.parameters = list(parameters)
        self.headers = {"Retry-After": "1"} if headers is None and status == 429 else headers or {}


class Strict(BaseModel):
    """JSON with known keys only."""

    model_config = ConfigDict(extra="forbid")


def _show(*examples: dict[str, Any]) -> ConfigDict:
    """Examples of a request, for OpenAPI."""
    return ConfigDict(json_schema_extra={"examples": list(examples)})


def _describe_settings(names: Iterable[str]) -> dict[str, Any]:
    """The settings of the library as fields, which JSON can hold. The library checks their values."""
    annotations = {field.name: str(field.type) for field in fields(Settings)}
    return {name: (_find_type(annotations[name]), Field(None, description=HELP[name])) for name in names}


def _find_type(annotation: str) -> Any:
    for part, found in (("Mapping", dict[str, Any]), ("bool", bool), ("float", float)):
        if part in annotation:
            return found | None
    return str | None


Methods = create_model("Methods", __base__=Strict, **_describe_settings(METHOD_NAMES))
"""The settings of an obfuscator. What is missing is as the server was started."""
Budgeted = create_model("Budgeted", __base__=Methods, **_describe_settings(BUDGET_NAMES))
"""Settings with a budget: at most one of ``epsilon``, ``epsilon_per_word`` and ``level``, by default medium."""


class ObfuscateRequest(Budgeted):
    """A text or several texts to obfuscate."""

    model_config = _show(
        {"text": TEXT, "mechanism": "fluent", "epsilon_per_word": 15},
        {"texts": [TEXT, None, "Lovely music!"], "mechanism": "fluent", "epsilon_per_word": 15},
        {"text": TEXT, "mechanism": "exponential", "epsilon": 60, "chunks": True, "alternatives": 5},
    )

    text: str | None = Field(None, description="One text.")
    texts: list[str | None] | None = Field(None, description="Several texts. A missing one is null, and stays null.")
    seed: Seed = None
    chunks: bool = Field(False, description="Answer with the chunks of each text. They have the words of the original.")
    alternatives: int = Field(
        0,
        ge=0,
        le=MOST_ALTERNATIVES,
        description="The number of most probable replacements to list for each chunk, where there is a closed form.",
    )
    certificate: bool = Field(True, description="Answer with the certificate.")


class Alternative(BaseModel):
    """A replacement that a chunk may get."""

    replacement: str
    probability: float


class ObfuscatedChunk(BaseModel):
    """What became of a chunk."""

    chunk: str = Field(description="The chunk of the original.")
    scores: list[float | None] = Field(description="The distributor's score of each of its words.")
    share: float
    outcome: str = Field(
        description="`perturbed`, `drawn`, `redacted`, `kept_stopword`, `kept_unknown` or `kept_no_share`."
    )
    replacement: str | None = Field(description="What the output has instead; null if the chunk was kept.")
    draft: str | None = None
    draft_share: float | None = None
    stays: float | None = Field(None, description="The probability that the chunk replaces itself.")
    probability: float | None = Field(None, description="The probability of the replacement that was drawn.")
    alternatives: list[Alternative] | None = Field(
        None, description="The most probable replacements, best first; null for a kept chunk and without a closed form."
    )


class ObfuscatedText(BaseModel):
    """An obfuscated text. A missing one has no text and the outcome ``missing``."""

    text: str | None
    outcome: str
    chunks: list[ObfuscatedChunk] | None = None


class Closing(BaseModel):
    """What holds for all texts of a request."""

    certificate: dict[str, Any] | None = None
    summary: list[str] = Field(description="What the certificate says, in a few lines for people.")
    warnings: list[str]


class ObfuscateAnswer(Closing, ObfuscatedText):
    """The answer to ``text``: the obfuscated text."""


class ObfuscateAllAnswer(Closing):
    """The answer to ``texts``: one result for each text, in order, and one certificate for all."""

    results: list[ObfuscatedText]


class DecomposeRequest(Strict):
    """A text to split."""

    model_config = _show({"text": "We live in New York City.", "decompositions": ["words", "pmi"]})

    text: str
    decompositions: list[str] | None = Field(None, description="By default all that the bundle supports.")
    bundle: str | None = None


class SplitChunk(BaseModel):
    """A chunk: from which word to which, and its text."""

    start: int
    stop: int
    text: str


class DecomposeAnswer(BaseModel):
    """The chunks of a text under each decomposition."""

    decompositions: dict[str, list[SplitChunk]]
    unavailable: dict[str, str] = Field(description="Why a decomposition is not listed, by its name.")


class DistributeRequest(Strict):
    """A text whose budget is to be divided."""

    model_config = _show({"text": TEXT, "epsilon": 14, "distributions": ["uniform", "yake"]})

    text: str
    epsilon: float
    distributions: list[str] | None = Field(None, description="By default those that the server has loaded.")
    profile: str | None = None
    stopwords: str | None = None


class WordShare(BaseModel):
    """The score and the share of a word."""

    word: str
    score: float | None
    share: float


class Division(BaseModel):
    """The words of a text with the shares that a distribution gives them."""

    description: str
    words: list[WordShare]


class DistributeAnswer(BaseModel):
    """The shares of words under each distribution."""

    distributions: dict[str, Division]


class CalibrateRequest(Methods):
    """Targets that an epsilon per word should meet."""

    model_config = _show({"targets": {"unchanged-content": 0.2}, "mechanism": "fluent"})

    targets: dict[str, float]
    texts: list[str | None] | None = Field(None, description="By default public texts that ship with textveil.")
    confidence: float = CONFIDENCE


class AuditRequest(Budgeted):
    """Settings whose claim is to be refuted."""

    model_config = _show({"mechanism": "exponential", "epsilon_per_word": 10, "draws": 500})

    draws: int = Field(1_000, ge=FEWEST_DRAWS, le=MOST_DRAWS, description="Answers to draw for each text.")
    confidence: float = AUDIT_CONFIDENCE


class MeaningPoint(BaseModel):
    """What an epsilon per word means for the words of the bundle, by their frequency."""

    epsilon_per_word: float
    stays: float = Field(description="The share of words that stay as they are.")
    guessed: float = Field(description="The share of words that an attacker guesses, who knows the mechanism.")


class Meaning(BaseModel):
    """What an epsilon per word means: a curve."""

    bundle: str
    decomposition: str
    mechanism: str
    method: Literal["exact", "simulated"]
    words: int = Field(description="The number of words that were drawn, without stopwords.")
    largest_share: float = Field(description="Larger epsilons per word change nothing, by default.")
    points: list[MeaningPoint]


class Health(BaseModel):
    """The state of the server."""

    status: Literal["ok"] = "ok"
    version: str


class Problem(BaseModel):
    """An error. It never has a text."""

    error: str = Field(description="What is wrong, and what to do.")
    kind: str = Field(description="The class of the library's error, such as `BudgetError`.")
    parameters: list[str] = Field(default_factory=list, description="The parameters that the message names.")
    request_id: str
