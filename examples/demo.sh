#!/bin/sh
# The second part of `make demo`: decompositions, distributions, a file, its evaluation and its certificate.
set -eu
here=$(dirname "$0")
out=$here/../build/demo
. "$here/common.sh"
mkdir -p "$out"

say "More than words: the chunks of a text under every decomposition"
longer="We don't live in New York City, but the film was shot in the United States of America. It was a box office hit."
show "textveil decompose TEXT"
textveil decompose "$longer"

say "The same budget under every decomposition"
echo "  original: $longer"
for decomposition in words pmi llr tscore pos wordnet; do
    printf '  %8s: %s\n' "$decomposition" \
        "$(textveil obfuscate "$longer" --epsilon-per-word 15 --decomposition "$decomposition")"
done
show "textveil obfuscate TEXT --epsilon-per-word 15 --decomposition wordnet --explain"
textveil obfuscate "$longer" --epsilon-per-word 15 --decomposition wordnet --explain

say "The share of the budget that every word gets, under every distribution"
show "textveil distribute TEXT --epsilon 14"
textveil distribute "$text" --epsilon 14 --html "$out/shares.html" --overwrite
echo "  The same as a page: build/demo/shares.html"
show "textveil obfuscate TEXT --epsilon-per-word 15 --decomposition pmi --distribution attention --explain"
textveil obfuscate "$longer" --epsilon-per-word 15 --decomposition pmi --distribution attention --explain

# The tests of gensim include ten film reviews.
review=$(python - <<'END'
from pathlib import Path
import gensim
line = Path(gensim.__file__).with_name("test").joinpath("test_data/alldata-id-10.txt").read_text().splitlines()[1]
print(" ".join(line.split()[1:41]).replace(" ,", ",").replace(" .", "."))
END
)
say "A real review under several decompositions and budgets"
printf 'original\n%s\n' "$review" | fold -s -w 110
for decomposition in words pmi pos wordnet; do
    for each in 10 15 20; do
        printf '\n%s, epsilon %s per word\n' "$decomposition" "$each"
        textveil obfuscate "$review" --epsilon-per-word "$each" --decomposition "$decomposition" | fold -s -w 110
    done
done

say "A file: rows stay in order, and other columns are copied unless they are dropped"
show "textveil obfuscate --input examples/reviews.csv --output build/demo/out.csv --drop author --epsilon-per-word 10 --certificate build/demo/certificate.json"
textveil obfuscate --input "$here/reviews.csv" --output "$out/out.csv" --drop author --epsilon-per-word 10 \
    --certificate "$out/certificate.json" --overwrite
echo
cat "$out/out.csv"

say "Surviving identifiers, and similarity of meaning"
show "textveil evaluate --original examples/reviews.csv --obfuscated build/demo/out.csv --metrics identifiers,similarity"
textveil evaluate --original "$here/reviews.csv" --obfuscated "$out/out.csv" --metrics identifiers,similarity --no-cache

say "An excerpt of the certificate (complete: build/demo/certificate.json)"
grep -A 26 '"profile"' "$out/certificate.json"
