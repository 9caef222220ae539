"""JSON read strictly, so that what is read can be written again and nothing goes missing on the way.

Refused beyond what JSON itself refuses: a key that stands twice in an object, NaN and the infinities, half a
surrogate pair (no text in any encoding), and nesting or numbers beyond what Python can take.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import NoReturn

from grater.model import Json

SURROGATE = re.compile("[\ud800-\udfff]")


class NotJson(ValueError):
    """What is wrong, as the end of a sentence: `expected ..., found ...`."""


def parse_json(text: str) -> Json:
    try:
        value: Json = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotJson(f"expected JSON, found a fault at character {error.pos + 1}: {error.msg}") from error
    except NotJson:
        raise
    except (ValueError, RecursionError) as error:
        raise NotJson(f"expected JSON of a sensible size, found a fault: {error}") from error
    if ("\\u" in text or SURROGATE.search(text)) and SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise NotJson("expected text, found half a surrogate pair (\\ud800 to \\udfff); take it out")
    return value


def _without_repeats(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    record = dict(pairs)
    if len(record) < len(pairs):
        n_found = Counter(key for key, _ in pairs)
        raise NotJson(f"expected each key once, found {n_found.most_common(1)[0][0][:40]!r} again")
    return record


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise NotJson(f"expected a finite number, found {digits[:40]}")
    return number


def _no_number(constant: str) -> NoReturn:
    raise NotJson(f"expected a finite number, found {constant}")


_DECODER = json.JSONDecoder(object_pairs_hook=_without_repeats, parse_float=_finite, parse_constant=_no_number)
