import csv
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.metrics.conftest import make_rows
from textveil.cli.main import app
from textveil.lab.metrics import METRICS
from textveil.lab.metrics.classifiers import CLASSIFIERS

TEXTVEIL = str(Path(sys.executable).with_name("textveil"))


def run(*arguments):
    return CliRunner().invoke(app, ["evaluate", *map(str, arguments)])


def write(path, texts, labels, authors):
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["text", "sentiment", "author"])
        writer.writerows(zip(texts, labels, authors, strict=True))


@pytest.fixture(scope="module")
def obfuscated(tmp_path_factory):
    """A folder with a file of originals, the obfuscated one, and the certificate."""
    folder = tmp_path_factory.mktemp("obfuscated")
    write(folder / "a.csv", *make_rows())
    command = ["obfuscate", "-i", folder / "a.csv", "-o", folder / "b.csv", "-e", 300, "--mechanism", "madlib"]
    command += ["--certificate", folder / "b.json", "--seed", 1, "-q"]  # madlib is attacked in little time
    assert CliRunner().invoke(app, list(map(str, command))).exit_code == 0
    return folder


@pytest.fixture
def files(obfuscated, tmp_path):
    """The three files, which a test may change."""
    return tuple(Path(shutil.copy(obfuscated / name, tmp_path)) for name in ("a.csv", "b.csv", "b.json"))


def arguments(files, *more):
    return ["--original", files[0], "--obfuscated", files[1], *more]


CLASSES = ("--text", "text", "--label", "sentiment", "--attribute", "author")


def test_the_table_has_a_plain_sentence_per_metric(files):
    metrics = "identifiers,attribute,downstream,similarity,clear_text,inversion,trade_off"
    result = run(*arguments(files, *CLASSES, "--certificate", files[2], "--metrics", metrics))
    assert result.exit_code == 0, result.stderr
    for name in metrics.split(","):
        assert f"│ {name}" in result.stdout
    plain = " ".join(" ".join(line.split("│")[3:4]) for line in result.stdout.splitlines())
    plain = " ".join(plain.split())
    assert "Identifiers that survive obfuscation" in plain
    assert re.search(r"location: \d+\.\d% of 1\d ", plain)  # every kind has its line
    assert "no conclusion is drawn. Only 17 test texts: too few" in plain
    assert "60 pairs of texts" in result.stdout
    assert "±" not in result.stdout
    assert "Not measured" not in result.stdout
    assert "a.csv.scores" in result.stderr
    assert "\x1b" not in result.stdout


def test_values_stand_beside_chance_the_majority_baseline_and_the_originals(files):
    command = arguments(files, *CLASSES, "--metrics", "attribute,downstream,similarity", "--seeds", "42", "--no-cache")
    shown, found = run(*command).stdout, json.loads(run(*command, "--json").stdout)["metrics"]
    for metric, names in (("attribute", ("baseline", "static", "adaptive", "chance")), ("downstream", ("original",))):
        values, intervals = found[metric]["values"], found[metric]["intervals"]
        assert not any(name.endswith("_std") for name in values)  # one seed has no standard deviation
        for name in names:
            low, high = intervals[name]
            assert f"{name} {values[name]:.1%} [{100 * low:.1f}, {high:.1%}]" in shown
        assert f"majority {values['majority']:.1%} " in shown
        assert found[metric]["details"]["test_texts"] == 6
        assert found[metric]["caveats"][0].startswith("Only 6 test texts")
    low, high = found["similarity"]["intervals"]["cosine"]
    assert f"[{low:.3f}, {high:.3f}]" in shown


def test_a_rare_class_stops_only_the_metrics_that_need_it(files):
    texts, labels, authors = make_rows()
    write(files[0], texts, labels, ["nobody", *authors[1:]])
    write(files[1], texts[::-1], labels, ["nobody", *authors[1:]])
    result = run(*arguments(files, *CLASSES, "--metrics", "downstream,clear_text", "--json", "--no-cache"))
    assert result.exit_code == 0, result.stderr
    assert set(json.loads(result.stdout)["metrics"]) == {"downstream", "clear_text"}


def test_a_task_is_measured_for_every_label(files):
    metrics = ("--metrics", "downstream,overlap", "--no-cache")
    result = run(*arguments(files, "--label", "sentiment", "--label", "author", *metrics, "--json"))
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)["metrics"]
    assert set(found) == {"downstream", "overlap", "downstream author"}
    alone = run(*arguments(files, "--label", "author", *metrics, "--json"))
    assert found["downstream author"] == json.loads(alone.stdout)["metrics"]["downstream"]
    assert "│ downstream author" in run(*arguments(files, "--label", "sentiment", "--label", "author", *metrics)).stdout


@pytest.fixture
def rare(files):
    """A command for two labels, of which the second one cannot be learned."""
    texts, labels, authors = make_rows()
    for path in files[:2]:
        write(path, texts, labels, ["nobody", *authors[1:]])
    return arguments(files, "--label", "sentiment", "--label", "author", "--no-cache", "-q")


def test_a_further_label_that_cannot_be_learned_is_refused_on_request(rare):
    refused = run(*rare, "--metrics", "downstream")
    assert refused.exit_code == 1
    assert "Row 1 is the only one with its label" in refused.stderr


@pytest.mark.slow
def test_a_further_label_that_cannot_be_learned_is_listed_with_the_reason(rare):
    result = run(*rare)  # all metrics
    assert "│ downstream " in result.stdout
    assert "Not measured: downstream author. " in result.stdout


def test_a_sample_of_the_rows_is_measured_and_said_to_be_one(files, tmp_path):
    card = tmp_path / "card.md"
    command = ["--sample", 20, "--certificate", files[2], "--metrics", "clear_text", "--no-cache", "--card", card]
    result = run(*arguments(files, *command))
    assert result.exit_code == 0, result.stderr
    assert "20 pairs of texts" in result.stdout
    assert "20, a random sample of 60" in card.read_text(encoding="utf-8")
    assert "NOT VERIFIED" not in card.read_text(encoding="utf-8")  # the certificate is compared with all rows
    found = json.loads(run(*arguments(files, "--sample", 20, "--metrics", "overlap", "--no-cache", "--json")).stdout)
    assert (found["texts"], found["sampled_from"]) == (20, 60)


def test_unchanged_words_are_found_without_a_certificate(files):
    result = run(*arguments((files[0], files[0]), "--metrics", "clear_text", "--json", "--no-cache"))
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["metrics"]["clear_text"]["values"] == {"unchanged": 1, "identical": 1}


def test_embeddings_are_cached_on_request(files, tmp_path):
    sizes = {}
    for name, more in (("without", []), ("with", ["--keep-embeddings"])):
        cache = tmp_path / name
        result = run(*arguments(files, "--metrics", "similarity", "--cache", cache, *more))
        assert result.exit_code == 0, result.stderr
        sizes[name] = sum(path.stat().st_size for path in cache.rglob("*.npz"))
    assert sizes["with"] > sizes["without"] + 60 * 384 * 8  # the numbers of an embedding


def test_json_and_output(files, tmp_path):
    output = tmp_path / "evaluation.json"
    result = run(*arguments(files, *CLASSES, "--metrics", "attribute", "--seeds", "1,2", "--json", "-o", output, "-q"))
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert json.loads(output.read_text()) == found
    assert found["texts"] == 60
    assert set(found["metrics"]) == {"attribute"}
    assert set(found["metrics"]["attribute"]["details"]["seeds"]) == {"1", "2"}
    assert found["metrics"]["attribute"]["versions"]["scikit-learn"]
    assert result.stderr == ""
    again = run(*arguments(files, "--metrics", "attribute", "--attribute", "author", "-o", output))
    assert again.exit_code == 2
    assert "--overwrite" in again.stderr


def test_by_default_metrics_that_lack_something_are_listed_with_the_reason(files, monkeypatch, tmp_path):
    for name in ("SPACY_EN", "SMOLLM2", "ALL_MINILM_L6_V2"):
        monkeypatch.setenv(f"TEXTVEIL_RESOURCE_{name}", str(tmp_path / "none"))
    result = run(*arguments(files, "--label", "sentiment"))
    assert result.exit_code == 0, result.stderr
    assert "│ downstream" in result.stdout
    for name, hint in (
        ("identifiers", "SPACY_EN"),
        ("attribute", "(--attribute)"),
        ("inversion", "(--certificate)"),
        ("trade_off", "computed from"),
    ):
        assert any(line.startswith(f"Not measured: {name}. ") and hint in line for line in result.stdout.splitlines())


def test_one_file_with_both_columns(tmp_path):
    path = tmp_path / "both.jsonl"
    texts, labels, _ = make_rows()
    path.write_text(
        "".join(json.dumps({"t": t, "h": f"x {m}", "mood": m}) + "\n" for t, m in zip(texts, labels, strict=True))
    )
    result = run("--original", path, "--text", "t", "--obfuscated-text", "h", "--label", "mood", "--metrics",
                 "downstream", "--json", "--no-cache")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["metrics"]["downstream"]["values"]["f1"] == 1
    assert sorted(tmp_path.iterdir()) == [path]


def test_an_interrupted_run_resumes(files, monkeypatch):
    fitted = []
    from textveil.lab.metrics.classifiers.linear import FittedLinear

    make = FittedLinear.__init__

    def stop_at_the_third(self, *args):
        fitted.append(1)
        if len(fitted) == 3:
            raise KeyboardInterrupt
        make(self, *args)

    monkeypatch.setattr(FittedLinear, "__init__", stop_at_the_third)
    command = arguments(files, "--label", "sentiment", "--metrics", "downstream", "--json")
    stopped = run(*command)
    assert stopped.exit_code == 130
    assert stopped.stderr
    finished = run(*command)
    assert finished.exit_code == 0, finished.stderr
    assert len(fitted) == 3 + 4  # two of six were cached
    assert run(*command).stdout == finished.stdout
    assert len(fitted) == 7


def test_scores_are_cached_in_the_given_folder_without_text(files, tmp_path):
    cache = tmp_path / "cached"
    result = run(*arguments(files, "--attribute", "author", "--metrics", "attribute,identifiers", "--cache", cache))
    assert result.exit_code == 0, result.stderr
    kept = [path for path in cache.rglob("*") if path.is_file()]
    assert kept
    assert not any(word in path.read_bytes() for path in kept for word in (b"waiter", b"Maria", b"anna"))
    assert not (tmp_path / "a.csv.scores").exists()
    assert f"Scores are cached in {str(cache)!r}" in result.stderr


def test_kinds_and_truncation_as_in_the_paper(files):
    flags = ("--metrics", "identifiers,similarity", "--kinds", "paper", "--truncate", "--json", "-q")
    found = json.loads(run(*arguments(files, *flags)).stdout)["metrics"]
    assert "kinds paper" in found["identifiers"]["description"]
    assert "ORGANIZATION" not in found["identifiers"]["details"]["kinds"]
    assert "truncate" in found["similarity"]["description"]
    shown = run(*arguments(files, "--metrics", "identifiers", "--kinds", "papre"))
    assert (shown.exit_code, "Did you mean 'paper'" in shown.stderr) == (2, True)


def test_identifiers_are_shown_by_harm(files):
    shown = run(*arguments(files, "--metrics", "identifiers", "-q")).stdout
    assert "direct, person: " in shown
    assert "indirect, organization: " in shown


def test_quiet_runs_do_not_mention_the_cache(files, tmp_path):
    result = run(*arguments(files, "--metrics", "identifiers", "--cache", tmp_path / "cached", "--quiet"))
    assert (result.exit_code, result.stderr) == (0, "")


def test_an_output_is_as_readable_as_the_originals(files, tmp_path):
    files[0].chmod(0o600)
    out = tmp_path / "evaluation.json"
    assert run(*arguments(files, "--metrics", "identifiers", "--no-cache", "--output", out, "-q")).exit_code == 0
    assert out.stat().st_mode & 0o777 == 0o600


def test_unchanged_words_are_shown_on_request(files):
    command = arguments(files, "--certificate", files[2], "--metrics", "clear_text", "--json", "-q")
    assert json.loads(run(*command).stdout)["metrics"]["clear_text"]["details"]["words"] == {}
    shown = json.loads(run(*command, "--words", 3).stdout)["metrics"]["clear_text"]["details"]["words"]
    assert "the" in shown["kept_stopword"]
    table = run(*arguments(files, "--certificate", files[2], "--metrics", "clear_text", "--words", 3)).stdout
    assert "kept_stopword: " in table
    assert ", the" in table or "the, " in table


def test_the_worst_documents_are_shown_without_their_text(files):
    command = arguments(files, "--certificate", files[2], "--metrics", "clear_text", "--no-cache", "-q")
    found = json.loads(run(*command, "--json").stdout)["metrics"]["clear_text"]
    values, rows = found["values"], found["details"]["worst_rows"]
    assert 0 <= values["documents_verbatim"] <= values["documents_80"] <= 1
    assert 0 < values["returned_p95"] <= values["returned_max"] <= 1
    assert len(rows) == 10
    assert all(isinstance(row, int) and 1 <= row <= len(make_rows()[0]) for row in rows)
    recorded = json.loads(files[2].read_text())["returned"]["documents"]
    assert found["details"]["of_file"]["documents"]["verbatim"] == recorded["100%"]
    table = " ".join(run(*command).stdout.replace("│", " ").split())
    for name in ("returned_p95", "returned_max", "documents_verbatim", "documents_80"):
        assert f"{name} {values[name]:.1%}" in table
    assert "of the replaced words" in found["line"]


def test_a_certificate_of_another_bundle(files):
    certificate = json.loads(files[2].read_text())
    certificate["bundle"]["sha256"] = "0" * 64
    files[2].write_text(json.dumps(certificate))
    counts = run(*arguments(files, "--certificate", files[2], "--metrics", "clear_text", "--json"))
    assert counts.exit_code == 0
    assert "--bundle" in counts.stderr
    found = json.loads(counts.stdout)["metrics"]["clear_text"]
    total = sum(certificate["words"].values())
    assert found["values"]["returned"] == pytest.approx(certificate["returned"]["words"] / total)
    assert "returned_max" not in found["values"]  # without chunks, there are only the counts of the certificate
    attack = run(*arguments(files, "--certificate", files[2], "--metrics", "inversion"))
    assert attack.exit_code == 2
    assert "--bundle" in attack.stderr


def test_an_encoder_that_was_a_folder_is_named(minilm, tiny, tmp_path):
    folder = shutil.copytree(minilm, tmp_path / "my-encoder")
    files = tuple(tmp_path / name for name in ("a.csv", "b.csv", "b.json"))
    write(files[0], ["good story", "the music was bad", "film of a green plot"], "pnn", "abc")
    chosen = ["--distribution", "attention", "--encoder", folder, "--certificate", files[2], "--bundle", tiny.folder]
    command = ["obfuscate", "-i", files[0], "-o", files[1], "--column", "text", "-e", 120, *chosen, "-q"]
    obfuscated = CliRunner().invoke(app, list(map(str, command)))
    assert obfuscated.exit_code == 0, obfuscated.stderr
    command = arguments(files, "--certificate", files[2], "--bundle", tiny.folder, "--text", "text")
    command += ["--metrics", "inversion", "--json", "--no-cache", "-q"]
    unnamed = run(*command)
    assert unnamed.exit_code == 1
    assert "'my-encoder'" in unnamed.stderr
    assert "set --encoder to the folder" in unnamed.stderr
    named = run(*command, "--encoder", folder)
    assert named.exit_code == 0, named.stderr
    assert set(json.loads(named.stdout)["metrics"]) == {"inversion"}


def test_help_and_defaults_come_from_the_declarations():
    shown = " ".join(CliRunner().invoke(app, ["evaluate", "--help"], env={"COLUMNS": "200"}).stdout.split())
    for registry, method, name in (
        (METRICS, "similarity", "models"),
        (METRICS, "similarity", "keep_embeddings"),
        (METRICS, "perplexity", "model"),
        (METRICS, "clear_text", "words"),
        (METRICS, "attribute", "seeds"),
        (METRICS, "attribute", "classifier"),
        (METRICS, "inversion", "bundle"),
        (CLASSIFIERS, "transformer", "model"),
        (CLASSIFIERS, "transformer", "epochs"),
        (CLASSIFIERS, "transformer", "learning_rate"),
    ):
        option = registry.load(method).list_options()[name]
        default = ",".join(map(str, option.default)) if isinstance(option.default, tuple) else option.default
        assert f"{option.help} Default: {default}." in shown


def test_the_options_of_a_transformer_reach_it(files, make_encoder):
    options = ["--attacker", "transformer", "--attacker-model", make_encoder(), "--epochs", "2"]
    options += ["--learning-rate", "0.01", "--seeds", "42", "--attribute", "author"]
    result = run(*arguments(files, *map(str, options), "--metrics", "attribute", "--json", "--no-cache"))
    assert result.exit_code == 0, result.stderr
    described = json.loads(result.stdout)["metrics"]["attribute"]["description"]
    assert "learning_rate 0.01" in described
    assert "epochs 2" in described


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (["--metrics", "identifers"], 2, "Did you mean 'identifiers'"),
        (["--metrics", ","], 2, "--metrics is empty"),
        (["--metrics", "attribute"], 2, "(--attribute)"),
        (["--metrics", "inversion"], 2, "(--certificate)"),
        (["--label", "mood"], 2, "has no column 'mood'"),
        (["--text", "review"], 2, "has no column 'review'"),
        (["--column", "review"], 2, "Choose one with --text."),  # the name that obfuscate has for it
        (["--attacker", "linaer"], 2, "Did you mean 'linear'"),
        (["--attacker-model", "gte-small"], 2, "goes with --attacker transformer"),
        (["--epochs", "3"], 2, "--epochs goes with --attacker transformer"),
        (["--attacker", "transformer", "--epochs", "0"], 2, "--epochs of transformer must be"),
        (["--attacker", "transformer", "--learning-rate", "2"], 2, "--learning-rate must be between"),
        (["--metrics", "clear_text", "--words", "-1"], 2, "--words of clear_text must be a whole number"),
        (["--seeds", "one"], 2, "such as 42,43,44"),
        (["--seeds", "-1"], 2, "non-negative integers"),
        (["--metrics", "attribute", "--encoders", "gte-small"], 2, "options for similarity"),
        (["--encoders", "no-such-model"], 1, "no model 'no-such-model'"),
        (["--language-model", "no-such-model"], 1, "no model 'no-such-model'"),
        (["--attacker", "transformer", "--attacker-model", "no-such-model"], 1, "no model 'no-such-model'"),
        (["--certificate", "none.json"], 1, "cannot be read"),
        (["--obfuscated", "none.csv"], 2, "Give one file."),
        (["--obfuscated-text", "hidden"], 2, "has no column 'hidden'"),
        (["--keep-embeddings", "--no-cache"], 2, "--keep-embeddings needs a cache. Remove --no-cache."),
        (["--keep-embeddings", "--metrics", "clear_text"], 2, "options for similarity"),
    ],
)
def test_bad_input(files, more, code, message, monkeypatch):
    result = run(*arguments(files, *more))
    assert result.exit_code == code, result.stderr
    assert message in result.stderr
    assert "waiter" not in result.stderr


def test_a_file_that_is_not_there(files):
    result = run(*arguments((files[0], "none.csv"), "--metrics", "clear_text"))
    assert (result.exit_code, "is not there" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: [[*row[:2], "anna"] for row in rows], "All texts have the same attribute"),
        (lambda rows: [["A secret text", "good", "nobody"], *rows], "Row 1 is the only one with its attribute"),
        (lambda rows: [["", *row[1:]] for row in rows], "No original contains a word"),
        (lambda rows: rows[1:], "59 rows"),
        (lambda rows: [[*row[:2], ""] for row in rows], "Row 1 has no attribute"),
    ],
)
def test_bad_rows(files, change, message):
    changed = change([list(row) for row in zip(*make_rows(), strict=True)])
    write(files[0], *zip(*changed, strict=True))
    if len(changed) > 59:
        write(files[1], *zip(*changed, strict=True))
    result = run(*arguments(files, "--attribute", "author", "--metrics", "attribute"))
    assert result.exit_code == 1
    assert message in result.stderr
    assert "secret" not in result.output


def test_empty_texts_are_counted(files):
    rows = [list(row) for row in zip(*make_rows(), strict=True)]
    write(files[1], *zip(*[["", *row[1:]] for row in rows[:5]], *rows[5:], strict=True))
    rows[7][0] = "?!"
    write(files[0], *zip(*rows, strict=True))
    result = run(*arguments(files, "--attribute", "author", "--metrics", "attribute"))
    assert result.exit_code == 0, result.stderr
    for count in ("59 pairs of texts", "1 skipped because the original has no word", "5 empty obfuscated texts"):
        assert count in " ".join(result.stdout.split())


def test_as_a_command(files):
    command = [
        TEXTVEIL,
        "evaluate",
        *map(str, arguments(files, "--label", "sentiment", "--metrics", "downstream", "-q")),
    ]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert "downstream" in result.stdout
