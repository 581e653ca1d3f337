#!/bin/sh
# `make demo`: texts under several budgets, decompositions and distributions, then a file, what it still tells, and its certificate.
set -eu
here=$(dirname "$0")
out=$here/../build/demo
mkdir -p "$out"
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
show() { printf '\n$ %s\n' "$*"; }

text="The soup was cold and the waiter, a certain Mr Grzybowski, was rude to my daughter."
say "One text, four budgets (epsilon is for the whole text)"
echo "  original: $text"
for epsilon in 10 80 160 320; do
    printf '  %8s: %s\n' "$epsilon" "$(textveil obfuscate "$text" --epsilon "$epsilon")"
done

say "What became of every word"
show "textveil obfuscate TEXT --epsilon 160 --explain"
textveil obfuscate "$text" --epsilon 160 --explain

say "More than words: how the same text is split into chunks"
longer="We don't live in New York City, but the film was shot in the United States of America. It was a box office hit."
show "textveil decompose TEXT"
textveil decompose "$longer"

say "The same budget under each decomposition"
echo "  original: $longer"
for decomposition in words pmi llr tscore pos wordnet; do
    printf '  %8s: %s\n' "$decomposition" \
        "$(textveil obfuscate "$longer" --epsilon 250 --decomposition "$decomposition")"
done
show "textveil obfuscate TEXT --epsilon 250 --decomposition wordnet --explain"
textveil obfuscate "$longer" --epsilon 250 --decomposition wordnet --explain

say "Who gets how much of the budget: the distributions side by side"
show "textveil distribute TEXT --epsilon 14"
textveil distribute "$text" --epsilon 14 --html "$out/shares.html" --overwrite
echo "  the same as a page: build/demo/shares.html"
show "textveil obfuscate TEXT --epsilon 250 --decomposition pmi --distribution attention --explain"
textveil obfuscate "$longer" --epsilon 250 --decomposition pmi --distribution attention --explain

# Ten reviews of films come with gensim's own tests.
review=$(python - <<'END'
from pathlib import Path
import gensim
line = Path(gensim.__file__).with_name("test").joinpath("test_data/alldata-id-10.txt").read_text().splitlines()[1]
print(" ".join(line.split()[1:41]).replace(" ,", ",").replace(" .", "."))
END
)
words=40
say "A real review under several decompositions and budgets"
printf 'original\n%s\n' "$review" | fold -s -w 110
for decomposition in words pmi pos wordnet; do
    for each in 5 10 15; do
        printf '\n%s, %s per word\n' "$decomposition" "$each"
        textveil obfuscate "$review" --epsilon $((words * each)) --decomposition "$decomposition" | fold -s -w 110
    done
done

say "A file: rows stay in place, other columns are carried along"
show "textveil obfuscate --input examples/reviews.csv --output build/demo/out.csv --epsilon-per-word 10 --certificate build/demo/certificate.json"
textveil obfuscate --input "$here/reviews.csv" --output "$out/out.csv" --epsilon-per-word 10 \
    --certificate "$out/certificate.json" --overwrite
echo
cat "$out/out.csv"

say "What the obfuscated texts still tell, and how near they are in meaning"
show "textveil evaluate --original examples/reviews.csv --obfuscated build/demo/out.csv --metrics identifiers,similarity"
textveil evaluate --original "$here/reviews.csv" --obfuscated "$out/out.csv" --metrics identifiers,similarity --no-cache

say "The certificate, in part (all of it: build/demo/certificate.json)"
grep -A 26 '"profile"' "$out/certificate.json"
