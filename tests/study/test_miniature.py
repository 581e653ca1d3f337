"""The study of the paper in miniature: from raw downloads to its report, with tiny models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from textveil.cli.main import app
from textveil.randomness import SeededRandomness
from textveil.resources import locate

WORDS = {
    "positive": "wonderful quick friendly excellent helpful perfect",
    "negative": "terrible slow rude broken awful useless",
    "F": "lovely shoes dress daughter sweet",
    "M": "engine tools driver battery solid",
}
COMMON = "the delivery of my order from this shop in London arrived on Monday and was".split()


def write_review(chance, *moods: str, words: int = 6) -> str:
    chosen = [word for mood in moods for word in chance.permutation(mood.split())[:2].tolist()]
    return " ".join([*chance.permutation(COMMON)[:words].tolist(), *chosen])


def write_downloads(folder: Path) -> tuple[Path, Path]:
    """Files as the two sites' corpora come: users with lists of reviews as Python writes them, and reviews as JSON."""
    chance = SeededRandomness(4).stream(0)
    trustpilot, yelp = folder / "united_states.jsonl.tmp", folder / "yelp_academic_dataset_review.json"
    with trustpilot.open("w", encoding="utf-8") as lines:
        for user in range(3000):
            gender, reviews = "FM"[user % 2], []
            for rating in (1, 5, 2, 4, 3):
                mood = WORDS["negative" if rating < 3 else "positive"]
                text = [write_review(chance, mood, WORDS[gender])]
                reviews.append({"rating": str(rating), "text": text, "title": None})
            lines.write(repr({"user_id": user, "gender": gender, "reviews": reviews}) + "\n")
    with yelp.open("w", encoding="utf-8") as lines:
        for number in range(16_000):
            author, stars = number % 12 if number % 12 < 10 else 10 + number % 700, number % 5 + 1
            mood = WORDS["negative" if stars < 3 else "positive"]
            text = write_review(chance, mood, f"place{author} street{author}")
            lines.write(json.dumps({"user_id": f"u{author}", "stars": float(stars), "text": text}) + "\n")
    return trustpilot, yelp


@pytest.fixture
def tiny_models(make_encoder, minilm, tmp_path) -> dict[str, object]:
    """Models for all methods of the paper's study, each of a few thousand weights besides its embeddings."""
    import torch
    import transformers

    special = {"bos_token": "[CLS]"}
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm, **special)
    config = transformers.GPT2Config(
        vocab_size=30522, n_embd=16, n_layer=1, n_head=2, n_positions=64, bos_token_id=0, eos_token_id=0
    )
    with torch.random.fork_rng():
        torch.manual_seed(3)
        transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path / "gpt")
    tokenizer.save_pretrained(tmp_path / "gpt")
    encoder = str(make_encoder())
    names = ("attention", "gradients", "keybert", "transformer")
    return {**dict.fromkeys(names, encoder), "similarity": [encoder], "perplexity": str(tmp_path / "gpt")}


@pytest.mark.slow
def test_the_study_of_the_paper_runs_in_miniature_from_raw_downloads(tiny_models, tmp_path):
    if not all(locate(name) for name in ("spacy-en", "wordnet", "wordnet-ic")):
        pytest.skip("spacy-en, wordnet or wordnet-ic is not installed")
    trustpilot, yelp = write_downloads(tmp_path)
    study = tmp_path / "paper.yaml"

    def call(command, *options):
        result = CliRunner().invoke(app, ["experiment", command, str(study), *map(str, options)])
        assert result.exit_code == 0, result.output
        return result

    raw = ("--trustpilot", trustpilot, "--yelp", yelp)
    call("init", "--preset", "paper", "--scale", 0.01, *raw)
    values = yaml.safe_load(study.read_text(encoding="utf-8"))
    assert (values["scale"], set(values["models"])) == (0.01, set(tiny_models))
    study.write_text(yaml.safe_dump({**values, "models": tiny_models, "seeds": [42]}), encoding="utf-8")
    planned = call("run", "--dry-run", "--executor", "local")
    assert "180 cells: 0 finished, 180 to do, 0 failed" in planned.stdout
    assert "Estimated time" in planned.stdout
    ran = call("run", "--workers", 2)
    assert "180 cells: 180 finished, 0 to do, 0 failed" in ran.stdout
    call("report")
    assert (tmp_path / "paper-results/report/report.html").exists()
    results = (tmp_path / "paper-results/results.csv").read_text(encoding="utf-8")
    assert all(f",{metric}," in results for metric in ("perplexity", "static_f1", "pi_remaining"))
    assert ",relative_gain," not in results  # ten test texts of each data set are too few
    assert "too few for a conclusion" in (tmp_path / "paper-results/report/report.html").read_text(encoding="utf-8")
