"""Identifiers of texts and files that are obfuscated: redacted, perturbed, counted, resumed, replayed."""

import csv
import json
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from textveil import Certificate, Obfuscator, Outcome
from textveil.budget import Budget
from textveil.cli.main import app
from textveil.errors import ProfileError, ResourceError
from textveil.jobs import FileJob, JobOptions
from textveil.lab.metrics.replay import replay
from textveil.summary import summarize
from textveil.tables import Layout
from textveil.text.identifiers import Finder

TEXT = "Maria Smith of the Bank of England moved to London, and the film was good 🙂."
SCHEMA = json.loads((Path(__file__).parents[1] / "docs/certificate.schema.json").read_text())


@pytest.fixture(scope="module", autouse=True)
def finder():
    try:
        return Finder()
    except ResourceError as error:
        pytest.skip(str(error))


@pytest.fixture
def build(tiny):
    return lambda treatment="redact", **options: Obfuscator(tiny, identifiers=treatment, seed=1, **options)


@pytest.mark.parametrize("form", ["keep", "plain"])
def test_kinds_are_written_in_the_stead_of_identifiers(build, form):
    result = build(form=form).obfuscate(TEXT, epsilon=20)
    assert [word.strip(".,") for word in result.text.split() if "<" in word] == [
        "<PERSON>", "<ORGANIZATION>", "<LOCATION>"
    ]  # fmt: skip
    redacted = [chunk for chunk in result.chunks if chunk.outcome is Outcome.REDACTED]
    assert [chunk.original for chunk in redacted] == ["Maria Smith", "the Bank of England", "London"]
    assert "".join(chunk.original for chunk in result.chunks).count("Maria") == 1
    assert [0, *(chunk.chunk.stop for chunk in result.chunks)][:-1] == [chunk.chunk.start for chunk in result.chunks]
    assert sum(chunk.share for chunk in result.chunks) == pytest.approx(
        20, abs=20 if result.certificate.tally.capped else 1e-6
    )
    assert all(chunk.share == 0 for chunk in redacted)
    assert result.outcome.value == "obfuscated"


def test_a_text_of_identifiers_and_stopwords_is_not_called_returned(build):
    result = build().obfuscate("Maria Smith was in London", epsilon=20)
    assert result.outcome.value == "obfuscated"
    assert result.certificate.tally.largest_spent == 0


def test_redacted_words_have_no_influence(build):
    texts = ["In May, Maria Smith saw the film.", "In May, Thomas Alexander Brown saw the film."]
    one, two = (build(form="keep", distribution="ic").obfuscate(text, epsilon=9) for text in texts)
    assert one.text == two.text
    assert [chunk.share for chunk in one.chunks] == [chunk.share for chunk in two.chunks]


def test_the_certificate_counts_and_states_them(build):
    certificate = build().obfuscate(TEXT, epsilon=20).certificate
    stated = certificate.as_dict()
    jsonschema.validate(stated, SCHEMA)
    assert stated["identifiers"]["found"] == {"LOCATION": 1, "ORGANIZATION": 1, "PERSON": 1}
    assert stated["words"]["redacted"] == 7
    assert stated["neighbors"].endswith(", once identifiers are replaced by their kinds")
    assert "the places and kinds of identifiers, which are written in their stead" in stated["not_protected"]
    assert set(stated["versions"]) >= {"presidio-analyzer", "spacy"}
    loaded = Certificate.from_dict(json.loads(json.dumps(stated)))
    assert loaded.terms.identifiers["treatment"] == "redact"
    assert loaded.tally == certificate.tally
    assert any("PERSON 1" in line for line in summarize(loaded, 1.0))
    earlier = {name: value for name, value in stated.items() if name != "identifiers"}
    earlier["words"] = {name: count for name, count in stated["words"].items() if name != "redacted"}
    assert Certificate.from_dict(earlier).terms.identifiers is None


def test_perturbed_identifiers_keep_no_word(build):
    plain = {chunk.original: chunk.outcome for chunk in build(None, form="keep").obfuscate(TEXT, epsilon=20).chunks}
    assert plain["of"] is Outcome.KEPT_STOPWORD
    result = build("perturb", form="keep").obfuscate(TEXT, epsilon=20)
    inside = [chunk for chunk in result.chunks if 3 <= chunk.chunk.start < 7]
    assert [chunk.original for chunk in inside] == ["the", "Bank", "of", "England"]
    assert not any(chunk.outcome.in_clear for chunk in inside)
    assert result.chunks[2].outcome is Outcome.KEPT_STOPWORD  # "of", before the name
    assert result.certificate.as_dict()["identifiers"]["treatment"] == "perturb"


def test_perturbed_identifiers_are_never_in_clear_under_paper(build):
    outcomes = {c.original: c.outcome for c in build("perturb", profile="paper").obfuscate(TEXT, epsilon=20).chunks}
    assert outcomes["Maria"] is Outcome.DRAWN
    assert outcomes["moved"] is Outcome.KEPT_UNKNOWN


def test_proven_refuses_redaction_and_its_texts_do_not_depend_on_the_finder(build):
    with pytest.raises(ProfileError, match="proven"):
        build(profile="proven")
    results = [build(each, profile="proven").obfuscate(TEXT, epsilon=20) for each in (None, "perturb")]
    assert results[0].text == results[1].text


def test_a_file_is_resumed_and_replayed(build, tiny, tmp_path):
    rows = [["id", "text"], *([str(number), f"Maria Smith liked scene {number} of the film."] for number in range(40))]
    source = tmp_path / "in.csv"
    with source.open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    options = JobOptions(Budget(epsilon=9.0), Layout(), batch_size=10, certificate=tmp_path / "whole.json")
    whole = FileJob(source, tmp_path / "whole.csv", options).run(build())
    calls = 0

    def stop(*_):
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt

    options = JobOptions(Budget(epsilon=9.0), Layout(), batch_size=10)
    with pytest.raises(KeyboardInterrupt):
        FileJob(source, tmp_path / "out.csv", options, part_seconds=0.0).run(build(), stop)
    report = FileJob(source, tmp_path / "out.csv", options, resume=True, part_seconds=0.0).run(build())
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert report.certificate.tally == whole.certificate.tally
    assert report.certificate.tally.identifiers["PERSON"] == 40
    results = replay(Certificate.load(tmp_path / "whole.json"), [row[1] for row in rows[1:]], bundle=tiny)
    assert sum(result.certificate.tally.words[Outcome.REDACTED] for result in results) == 80


def test_on_the_command_line(tiny):
    command = ["obfuscate", TEXT, "--epsilon", "9", "--bundle", str(tiny.folder), "--form", "keep", "--seed", "1"]
    shown = CliRunner().invoke(app, [*command, "--identifiers", "redact"])
    assert shown.stdout.startswith("<PERSON> of <ORGANIZATION> ")
    refused = CliRunner().invoke(app, [*command[:-4], "--identifiers", "redact", "--profile", "proven"])
    assert refused.exit_code == 2
    assert "--identifiers redact" in refused.stderr
