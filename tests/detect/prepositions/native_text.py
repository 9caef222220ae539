"""A small made-up English in which every preposition follows a rule, to train tiny models on; all lines our own."""

from __future__ import annotations

from itertools import islice, product

PEOPLE = ["teacher", "girl", "boy", "nurse", "farmer", "driver", "writer", "king", "pilot", "cook"]
SCENES = (
    ("{} waited for the {}", ["bus", "train", "answer", "letter", "doctor", "parcel"]),
    ("{} listened to the {}", ["music", "radio", "story", "lesson", "rain", "speech"]),
    ("{} depended on the {}", ["weather", "money", "harvest", "plan", "rule", "captain"]),
    ("{} walked into the {}", ["house", "garden", "office", "kitchen", "shop", "hall"]),
    ("{} was afraid of the {}", ["dog", "storm", "water", "dark", "ghost", "thunder"]),
    ("{} was angry with the {}", ["waiter", "neighbour", "cat", "judge", "brother", "guard"]),
    ("{} discussed the {}", ["problem", "price", "journey", "film", "question", "idea"]),
    ("{} looked at the {}", ["picture", "map", "river", "moon", "clock", "screen"]),
)
DAYS = ("on Monday", "in March", "at noon", "on Friday", "in May", "at night")


def native_lines(n_lines: int = 600) -> list[str]:
    """Distinct lines of the made-up English, two sentences a line."""
    scenes = [(form, thing) for form, things in SCENES for thing in things]
    made = product(range(6), scenes, PEOPLE, DAYS)
    lines = (
        f"The {person} {form.format('', thing).strip()} {day}. {_more(number, person)}".replace("  ", " ")
        for number, (form, thing), person, day in made
    )
    spread = list(dict.fromkeys(lines))
    step = max(1, len(spread) // n_lines)
    return list(islice(spread[::step], n_lines))


def _more(number: int, person: str) -> str:
    return (
        f"Then the {person} went to the market.",
        f"Later the {person} came from the village with a friend.",
        f"The {person} bought a ticket for the concert.",
        f"Nobody knew the name of the {person}.",
        f"After the meal the {person} read a book about the sea.",
        f"The {person} lived without a car.",
    )[number]
