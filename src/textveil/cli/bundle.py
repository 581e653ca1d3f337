"""``textveil bundle``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.bundles.building import LexiconTable, VectorTable, build_bundle
from textveil.bundles.bundle import DEFAULT_BUNDLE, MANIFEST, STORAGES, Bundle
from textveil.bundles.vector_files import VECTOR_FORMATS, reading_vectors, write_vectors
from textveil.cli.reporting import report, reporting_errors
from textveil.decomposition import DECOMPOSERS
from textveil.decomposition.base import LexiconDecomposer
from textveil.errors import InputError, ParameterError
from textveil.extras import require
from textveil.jobs import check_free
from textveil.resources import find

app = typer.Typer(
    help="Look at, check and import bundles: prepared languages.", no_args_is_help=True, rich_markup_mode=None
)

DISTANCES = (
    ("pairs", "between two entries"),
    ("nearest", "to the nearest entry"),
    ("centre", "to the centre, where unknown words stand"),
)

NameOrFolder = Annotated[str, typer.Argument(help="A bundle's name, or its folder.")]


@app.command("info")
@reporting_errors
def info(
    bundle: NameOrFolder = DEFAULT_BUNDLE,
    as_json: Annotated[bool, typer.Option("--json", help=f"Print {MANIFEST} as it is.")] = False,
) -> None:
    """Show what a bundle is made of."""
    opened = Bundle.load(bundle)
    manifest = opened.manifest
    if as_json:
        typer.echo(manifest.to_json(), nl=False)
        return
    typer.echo(f"{manifest.name} {manifest.version} ({manifest.language})")
    typer.echo(f"corpus    {manifest.corpus}" + (f", {manifest.tokens:,} tokens" if manifest.tokens else ""))
    typer.echo(f"licence   {manifest.licence}")
    typer.echo(f"sha256    {opened.hash}")
    for decomposition, lexicon in manifest.lexicons.items():
        typer.echo(f"{decomposition:<9} lexicon of {lexicon['ngrams']:,} expressions")
    for decomposition, table in manifest.vectors.items():
        typer.echo(describe_vectors(decomposition, table))
        distances = table.get("distance", {})
        for kind, label in DISTANCES:
            if distances.get(kind):
                quantiles = ", ".join(f"{float(q):.0%} {value:g}" for q, value in distances[kind].items())
                typer.echo(f"          distance {label}: {quantiles}")


def describe_vectors(decomposition: str, table: Mapping[str, Any]) -> str:
    """What a manifest says of vectors, in a line."""
    changed = table.get("changed_neighbours")
    return (
        f"{decomposition:<9} {table['entries']:,} entries, {table['dimensions']} dimensions, {table['writable']:,} may "
        f"be written, {table['storage']}"
        + (f" (changes {changed:.2%} of nearest neighbours)" if isinstance(changed, float) else "")
    )


@app.command("verify")
@reporting_errors
def verify(bundle: NameOrFolder = DEFAULT_BUNDLE) -> None:
    """Check every file of a bundle against its hash."""
    files = Bundle.load(bundle).verify()
    typer.echo(f"{len(files)} files are what the manifest says.")


@app.command("list")
@reporting_errors
def list_() -> None:
    """List the bundles that ship with textveil."""
    for name in Bundle.shipped():
        manifest = Bundle.load(name).manifest
        typer.echo(f"{name}  {manifest.version}  {manifest.language}  {', '.join(manifest.vectors)}")


@app.command("export")
@reporting_errors
def export(
    bundle: NameOrFolder = DEFAULT_BUNDLE,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    decomposition: Annotated[str, typer.Option(help="Whose vectors.")] = "words",
    binary: Annotated[
        bool, typer.Option("--binary", help="word2vec's binary format; otherwise its text format.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")] = False,
) -> None:
    """Write vectors as word2vec does, so that gensim and others can read them.

    Names that textveil never writes are among them: a file of word2vec has no place for that.
    """
    check_free(output, overwrite=overwrite)
    vectors = Bundle.load(bundle).vectors(DECOMPOSERS.load(decomposition).name)
    write_vectors(output, vectors.entries, vectors.matrix, binary=binary)
    typer.echo(f"{len(vectors):,} entries of {vectors.dimensions} dimensions in {str(output)!r}.")


@app.command("import")
@reporting_errors
def import_(
    vectors: Annotated[Path, typer.Argument(help="A file of word2vec (text or binary) or GloVe vectors.")],
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of the new bundle.")],
    name: Annotated[str | None, typer.Option(help="Its name; the folder's by default.")] = None,
    vector_format: Annotated[
        str, typer.Option("--format", help=f"How the file is written: {', '.join(VECTOR_FORMATS)}.")
    ] = "auto",
    limit: Annotated[int | None, typer.Option(help="Take this many vectors, from the beginning.")] = None,
    storage: Annotated[
        str, typer.Option(help=f"How vectors are stored: {', '.join(STORAGES)}. int8 has a scale per row.")
    ] = "float32",
    decomposition: Annotated[str, typer.Option(help="The decomposition that the entries belong to.")] = "words",
    lexicons: Annotated[
        Path | None, typer.Option(help="The folder that 'textveil prepare score' wrote, for pmi, llr and tscore.")
    ] = None,
    exclude: Annotated[
        Path | None, typer.Option(help="A file of entries, one per line, that must never be written.")
    ] = None,
    licence: Annotated[str, typer.Option(help="What may be done with the vectors.")] = "unknown",
) -> None:
    """Make a bundle of vectors that another program wrote.

    Texts are matched in lower case, so an entry with capitals is never found in a text. Entries that are not words,
    such as punctuation and addresses, are never written.
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
            licence=licence,
            parameters={"format": vector_format, "limit": limit},
            lexicons=_read_lexicons(decomposition, lexicons),
            storage=storage,  # type: ignore[arg-type] # checked by build_bundle
        )
        typer.echo(f"{len(imported.entries):,} entries of {imported.matrix.shape[1]} dimensions in {str(output)!r}.")
        if imported.unusable or imported.repeated:
            report(f"Left out: {imported.unusable:,} not usable as an entry, {imported.repeated:,} repeated.")
    typer.echo(f"{built.manifest.vectors[decomposition]['writable']:,} of them may be written.")
    matched = sum(entry in built.vectors(decomposition) for entry in excluded)
    if matched < len(excluded):
        report(f"Of the {len(excluded):,} entries to exclude, {matched:,} are in the vocabulary as they are spelt.")


def _read_lexicons(decomposition: str, folder: Path | None) -> dict[str, LexiconTable]:
    """The lexicons that are given, and that of WordNet where it is needed."""
    tables: dict[str, LexiconTable] = {}
    if folder is not None:
        require("pyarrow", extra="prepare")
        from textveil.corpus.lexicons import read_lexicon_tables

        tables |= read_lexicon_tables(folder)
    if decomposition == "wordnet":
        from textveil.corpus.wordnet import read_wordnet_table

        tables["wordnet"] = read_wordnet_table(find("wordnet"))
    if issubclass(DECOMPOSERS.load(decomposition), LexiconDecomposer) and decomposition not in tables:
        raise ParameterError(
            f"The decomposition {decomposition!r} needs a lexicon: name the folder that 'textveil prepare score' wrote "
            "with --lexicons."
        )
    return tables


def _read_lines(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text(encoding="utf-8").split("\n") if line]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"Cannot read {str(path)!r} as UTF-8 text. Check the path.") from error
