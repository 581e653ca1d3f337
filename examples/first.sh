#!/bin/sh
# The first part of `make demo`: one text under several budgets. It needs the package without extras.
set -eu
. "$(dirname "$0")/common.sh"

say "One text, four budgets (epsilon per word; smaller is more private)"
echo "  original: $text"
for epsilon in 5 10 15 20; do
    printf '  %8s: %s\n' "$epsilon" "$(textveil obfuscate "$text" --mechanism fluent --epsilon-per-word "$epsilon")"
done

say "The outcome of every word"
show "textveil obfuscate TEXT --mechanism fluent --epsilon-per-word 15 --explain"
textveil obfuscate "$text" --mechanism fluent --epsilon-per-word 15 --explain
