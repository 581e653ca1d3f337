#!/bin/sh
# The first part of `make demo`: one text under several budgets. It needs the package without extras.
set -eu
. "$(dirname "$0")/common.sh"

say "One text, four budgets (epsilon is the budget of the whole text)"
echo "  original: $text"
for epsilon in 10 80 160 320; do
    printf '  %8s: %s\n' "$epsilon" "$(textveil obfuscate "$text" --epsilon "$epsilon")"
done

say "The outcome of every word"
show "textveil obfuscate TEXT --epsilon 160 --explain"
textveil obfuscate "$text" --epsilon 160 --explain
