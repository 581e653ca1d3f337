"""Write reviews that a program made up: enough texts to try textveil, with a label and an author.

    python examples/make_reviews.py 600 reviews.csv     # columns text, stars, sentiment, author, gender
    python examples/make_reviews.py 3000 corpus.txt     # only texts, one per line
"""

import csv
import random
import sys
from pathlib import Path

PLACES = "hotel restaurant museum theater bakery bookshop garage dentist airport gym".split()
THINGS = "soup coffee staff music ticket waiting room front desk parking lot price breakfast".split()
PRAISE = "wonderful friendly quick delicious clean excellent lovely generous helpful quiet".split()
BLAME = "terrible rude slow cold dirty expensive awful noisy careless broken".split()
PEOPLE = ["my daughter", "my old neighbor", "our driver", "the manager", "a young waiter", "my best friend"]
CITIES = ["New York", "San Francisco", "Boston", "Chicago", "Los Angeles", "New Orleans"]
HABITS = {"anna": "{}!", "ben": "{} ...", "chris": "frankly, {}.", "dora": "basically, {}."}
"""How an author writes every other sentence. Attackers look for such habits."""
GENDERS = {"anna": "f", "ben": "m", "chris": "m", "dora": "f"}


def write_review(draw: random.Random, author: str, stars: int) -> str:
    """Four sentences that fit the stars, some of them in the habit of an author."""
    words = PRAISE if stars > 3 else BLAME
    sentences = [
        f"we went to a {draw.choice(PLACES)} in {draw.choice(CITIES)} with {draw.choice(PEOPLE)}",
        f"the {draw.choice(THINGS)} was {draw.choice(words)} and the {draw.choice(THINGS)} was {draw.choice(words)}",
        f"{draw.choice(PEOPLE)} told us that the {draw.choice(PLACES)} is {draw.choice(words)} at the end of the day",
        "we would go there again as soon as possible" if stars > 3 else "we would not go there again for a long time",
    ]
    draw.shuffle(sentences)
    frames = [draw.choice([HABITS[author], "{}."]) for _ in sentences]
    return " ".join(_capitalize(frame.format(each)) for frame, each in zip(frames, sentences, strict=True))


def _capitalize(text: str) -> str:
    return text[0].upper() + text[1:]


def main() -> None:
    """Write the file, the same in every run."""
    number, path = int(sys.argv[1]), Path(sys.argv[2])
    draw = random.Random(number)
    rows = [(draw.choice(list(HABITS)), draw.choice([1, 2, 4, 5])) for _ in range(number)]
    texts = [write_review(draw, author, stars) for author, stars in rows]
    with path.open("w", encoding="utf-8", newline="") as stream:
        if path.suffix == ".txt":
            stream.writelines(f"{text}\n" for text in texts)
            return
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(["text", "stars", "sentiment", "author", "gender"])
        for text, (author, stars) in zip(texts, rows, strict=True):
            table.writerow([text, stars, "positive" if stars > 3 else "negative", author, GENDERS[author]])


if __name__ == "__main__":
    main()
