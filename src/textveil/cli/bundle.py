"""``textveil bundle``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.bundles.building import LexiconTable, VectorTable, build_bundle
from textveil.bundles.bundle import DEFAULT_BUNDLE, PRIOR, SPELLING, UNVERIFIABLE, Bundle
from textveil.bundles.difference import compare_bundles, measure_size
from textveil.bundles.vector_files import reading_vectors, write_vectors
from textveil.cli.options import AsJson, Overwrite, build_app, command
from textveil.cli.reporting import report, write_json
from textveil.errors import InputError, ParameterError
from textveil.extras import require
from textveil.jobs import check_free
from textveil.methods.decomposition import DECOMPOSERS
from textveil.methods.decomposition.lexicons import LexiconDecomposer
from textveil.resources import find

app = build_app("Inspect, verify, import and export bundles.")

NameOrFolder = Annotated[str, typer.Argument(help="The name or the folder of a bundle.")]


@command(app, "info", no_args_is_help=False)
def info(bundle: NameOrFolder = DEFAULT_BUNDLE, as_json: AsJson = False) -> None:
    """Show the content of a bundle: corpus, license, lexicons, vectors, distances and priors.

    Sizes and distances are computed from the vectors.
    """
    opened = Bundle.load(bundle)
    manifest = opened.manifest
    if as_json:
        typer.echo(manifest.to_json(), nl=False)
        return
    tokens = f", {manifest.tokens:,} tokens" if manifest.tokens else ""
    typer.echo(f"{manifest.name} {manifest.version} ({manifest.language})")
    typer.echo(f"corpus    {manifest.corpus}{tokens}")
    typer.echo(f"license   {manifest.license}")
    typer.echo(f"sha256    {opened.hash}")
    typer.echo(f"size      {measure_size(opened) / 1e6:.1f} MB")
    typer.echo(f"vectors   {describe_origin(manifest.parameters.get('vectors'))}")
    for decomposition, lexicon in manifest.lexicons.items():
        typer.echo(f"{decomposition:<9} lexicon of {lexicon['ngrams']:,} expressions")
    for decomposition in manifest.vectors:
        for line in describe_vectors(opened, decomposition):
            typer.echo(line)
        for kind, quantiles in opened.distance(decomposition).items():
            if isinstance(quantiles, Mapping):
                shown = ", ".join(f"{float(share):.0%} {value:g}" for share, value in quantiles.items())
                typer.echo(f"          distance, {kind}: {shown}")


def describe_origin(options: Any) -> str:
    """The origin of the vectors in a few words, if the manifest states it."""
    found = options if isinstance(options, Mapping) else {}
    encoder, word2vec = found.get("encoder"), found.get("word2vec")
    named = encoder.get("name") if isinstance(encoder, Mapping) else encoder
    sources = [f"encoder {named}"] if named else []
    sources += [f"word2vec ({word2vec.get('architecture')})"] if isinstance(word2vec, Mapping) else []
    return " and ".join(sources) or "of unknown origin"


def describe_vectors(bundle: Bundle, decomposition: str) -> Iterator[str]:
    """Lines about the vectors of a decomposition, its prior, and its spelling table."""
    table, parts = bundle.manifest.vectors[decomposition], bundle.manifest.parts.get(decomposition, {})
    vectors = bundle.vectors(decomposition)
    sizes = f"{len(vectors):,} entries, {vectors.dimensions} dimensions, {len(vectors.writable):,} may be written"
    yield f"{decomposition:<9} {sizes}, {table['storage']}"
    if isinstance(changed := table.get("changed_neighbors"), float):
        yield f"          this storage changes {changed:.2%} of nearest neighbors"
    if isinstance(unit := table.get("unit"), float):
        yield f"          distances are divided by {unit:g}, their median before"
    if prior := parts.get(PRIOR):
        sizes = ", ".join(f"{number:,} of {length} entries" for length, number in prior["ngrams"].items())
        yield f"          prior with n-grams: {sizes or 'none'}; perplexity by order: {prior.get('perplexity')}"
    if isinstance(rows := parts.get(SPELLING, {}).get("ngrams"), int):
        yield f"          spelling table of {rows:,} character n-grams"


@command(app, "diff", no_args_is_help=False)
def diff(before: NameOrFolder, after: NameOrFolder, as_json: AsJson = False) -> None:
    """Show what differs between two bundles: settings, sizes, entries, expressions, priors.

    The examples of entries are the most frequent ones.
    """
    found = compare_bundles(Bundle.load(before), Bundle.load(after))
    if as_json:
        typer.echo(write_json(found), nl=False)
        return
    if not found:
        typer.echo("The bundles do not differ.")
    for part, changes in found.items():
        typer.echo(part)
        for name, change in changes.items():
            typer.echo(f"  {name}: {_describe_change(change)}")


def _describe_change(change: Mapping[str, Any]) -> str:
    """One line about a change of a value, or of a list of entries."""
    if "before" in change:
        return " -> ".join(json.dumps(change[side], ensure_ascii=False) for side in ("before", "after"))
    sides = (
        f"{change[side]:,} {side} ({', '.join(change[f'examples_{side}'])})"
        for side in ("added", "removed")
        if change[side]
    )
    return "; ".join(sides)


@command(app, "verify", no_args_is_help=False)
def verify(bundle: NameOrFolder = DEFAULT_BUNDLE) -> None:
    """Check every file and every vector of a bundle, and compute again what its manifest states about them."""
    opened = Bundle.load(bundle)
    files = opened.verify()
    typer.echo(f"{len(files)} files match the manifest.")
    for decomposition in opened.manifest.vectors:
        typer.echo(f"{decomposition:<9} vectors: computed again and equal; no entry is far from all others")
        if opened.prior(decomposition) is not None:
            typer.echo(f"{decomposition:<9} prior: computed again and equal; probabilities sum to 1")
    for decomposition in opened.manifest.lexicons:
        typer.echo(f"{decomposition:<9} lexicon: computed again and equal")
    typer.echo(f"Not checked, since the files do not show it: {', '.join(UNVERIFIABLE)}")


@command(app, "list", no_args_is_help=False)
def list_() -> None:
    """List the bundles that ship with textveil."""
    for name in Bundle.shipped():
        manifest = Bundle.load(name).manifest
        typer.echo(f"{name}  {manifest.version}  {manifest.language}  {', '.join(manifest.vectors)}")


@command(app, "export", no_args_is_help=False)
def export(
    bundle: NameOrFolder = DEFAULT_BUNDLE,
    *,
    output: Annotated[Path, typer.Option("--output", "-o")],
    decomposition: str = "words",
    binary: bool = False,
    overwrite: Overwrite = False,
) -> None:
    """Write vectors in word2vec's format, which gensim and other programs read.

    The file includes the names of people that textveil never writes, because the format cannot mark them.

    Args:
        output: The file to write.
        decomposition: The decomposition whose vectors are written.
        binary: Write word2vec's binary format instead of its text format.
    """
    check_free(output, overwrite=overwrite)
    vectors = Bundle.load(bundle).vectors(DECOMPOSERS.load(decomposition).name)
    write_vectors(output, vectors.entries, vectors.matrix, binary=binary)
    typer.echo(f"{len(vectors):,} entries of {vectors.dimensions} dimensions in {str(output)!r}.")


@command(app, "import", no_args_is_help=False)
def import_(
    vectors: Path,
    *,
    output: Annotated[Path, typer.Option("--output", "-o")],
    name: str | None = None,
    vector_format: Annotated[str, typer.Option("--format")] = "auto",
    limit: int | None = None,
    storage: str = "float32",
    decomposition: str = "words",
    lexicons: Path | None = None,
    exclude: Path | None = None,
    license: str = "unknown",  # noqa: A002
) -> None:
    """Build a bundle from the vectors of another program.

    Texts are matched in lowercase, so an entry with capital letters is never found in a text. Entries that are not
    words, such as punctuation and addresses, are never written. All vectors are divided by their median distance.

    Args:
        vector_format: The format of the file: {textveil.bundles.vector_files:VECTOR_FORMATS}.
        storage: The data type of the vectors: {textveil.bundles.bundle:STORAGES}. int8 has a scale per row.
        vectors: A file of word2vec (text or binary) or GloVe vectors.
        output: The folder of the new bundle.
        name: The name of the bundle; by default that of the folder.
        limit: Import only the first vectors, this many.
        decomposition: The decomposition of the entries.
        lexicons: The output folder of 'textveil prepare score', for pmi, llr and tscore.
        exclude: A file of entries that must never be written, one per line.
        license: The license of the vectors.
    """
    decomposition = DECOMPOSERS.load(decomposition).name
    excluded = _read_lines(exclude) if exclude is not None else []
    with reading_vectors(
        vectors,
        vector_format=vector_format,  # type: ignore[arg-type] # checked by reading_vectors
        limit=limit,
    ) as imported:
        built = build_bundle(
            output,
            {decomposition: VectorTable(imported.entries, imported.matrix, excluded)},
            name=name or output.name,
            version="1",
            corpus=f"imported from {vectors.name.encode(errors='replace').decode()}",
            license=license,
            parameters={"format": vector_format, "limit": limit},
            lexicons=_read_lexicons(decomposition, lexicons),
            storage=storage,  # type: ignore[arg-type] # checked by build_bundle
        )
        typer.echo(f"{len(imported.entries):,} entries of {imported.matrix.shape[1]} dimensions in {str(output)!r}.")
        if imported.unusable or imported.repeated:
            report(f"Skipped: {imported.unusable:,} unusable entries, {imported.repeated:,} repeated entries.")
    typer.echo(f"{len(built.vectors(decomposition).writable):,} of them may be written.")
    matched = sum(entry in built.vectors(decomposition) for entry in excluded)
    if matched < len(excluded):
        report(f"Of the {len(excluded):,} entries to exclude, {matched:,} are in the vocabulary in the same spelling.")


def _read_lexicons(decomposition: str, folder: Path | None) -> dict[str, LexiconTable]:
    """The lexicons in the folder, and the lexicon of WordNet if the decomposition needs it."""
    tables: dict[str, LexiconTable] = {}
    if folder is not None:
        require("pyarrow", extra="prepare")
        from textveil.lab.corpus.lexicons import read_lexicon_tables

        tables |= read_lexicon_tables(folder)
    if decomposition == "wordnet":
        from textveil.lab.corpus.wordnet import read_wordnet_table

        tables["wordnet"] = read_wordnet_table(find("wordnet"))
    if issubclass(DECOMPOSERS.load(decomposition), LexiconDecomposer) and decomposition not in tables:
        raise ParameterError(
            f"{decomposition!r} needs a lexicon. Set --lexicons to the output folder of prepare score."
        )
    return tables


def _read_lines(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text(encoding="utf-8").split("\n") if line]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"Cannot read {str(path)!r} as UTF-8 text. Check the path.") from error
