# What first.sh and demo.sh share: the text of the demonstration, and how headings and commands are shown.
text="The soup was cold and the waiter, a certain Mr Grzybowski, was rude to my daughter."
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
show() { printf '\n$ %s\n' "$*"; }
