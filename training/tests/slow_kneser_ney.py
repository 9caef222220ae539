"""Modified Kneser-Ney the plain way: dictionaries, one sum at a time, straight from Chen & Goodman's formulas."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import log

Ngram = tuple[str, ...]


class SlowKneserNey:
    """Every distribution is worked out anew for each question."""

    def __init__(self, sentences: Sequence[Sequence[str]], order: int, *, prune: Sequence[int] = ()) -> None:
        self.order = order
        self.prune = [*prune, *[0] * (order - len(prune))]
        self.raw: dict[int, Counter[Ngram]] = {k: Counter() for k in range(1, order + 1)}
        for words in sentences:
            rimmed = ("<s>", *words, "</s>")
            for k in range(1, order + 1):
                for start in range(len(rimmed) - k + 1):
                    self.raw[k][rimmed[start : start + k]] += 1
        del self.raw[1][("<s>",)]
        self.words = {ngram[0] for ngram in self.raw[1]} | {"<unk>"}
        self.adjusted = {k: self._adjusted(k) for k in range(1, order + 1)}
        self.discounts = {k: self._discounts(k) for k in range(1, order + 1)}
        self.by_context: dict[Ngram, list[Ngram]] = defaultdict(list)
        for k in range(1, order + 1):
            for ngram in self.adjusted[k]:
                self.by_context[ngram[:-1]].append(ngram)

    def _adjusted(self, k: int) -> dict[Ngram, int]:
        """Different words to the left; the raw count at the highest order and after the start of a sentence."""
        if k == self.order:
            return dict(self.raw[k])
        left = Counter(ngram[1:] for ngram in self.raw[k + 1])
        return {ngram: n if ngram[0] == "<s>" else left[ngram] for ngram, n in self.raw[k].items()}

    def _discounts(self, k: int) -> tuple[float, float, float]:
        n = Counter(self.adjusted[k].values())
        if not all(n[i] for i in (1, 2, 3, 4)):
            return 0.5, 1.0, 1.5
        y = n[1] / (n[1] + 2 * n[2])
        one, two, three = (i - (i + 1) * y * n[i + 1] / n[i] for i in (1, 2, 3))
        return (one, two, three) if 0 <= one <= 1 and 0 <= two <= 2 and 0 <= three <= 3 else (0.5, 1.0, 1.5)

    def p(self, word: str, context: Ngram) -> float:
        """p(word | context) by the recursion of the paper."""
        context = context[max(0, len(context) - self.order + 1) :]
        lower = self.p(word, context[1:]) if context else 1 / len(self.words)
        followers = self.by_context.get(context, [])
        k = len(context) + 1
        total = sum(self.adjusted[k][ngram] for ngram in followers)
        if not total:
            return lower
        rest = own = 0.0
        for ngram in followers:
            a = self.adjusted[k][ngram]
            if self.raw[k][ngram] <= self.prune[k - 1]:
                rest += a
            else:
                discount = self.discounts[k][min(a, 3) - 1]
                rest += discount
                own += a - discount if ngram[-1] == word else 0.0
        return own / total + rest / total * lower

    def log_p(self, words: Sequence[str]) -> float:
        """Of a whole sentence, its end included."""
        rimmed = ("<s>", *(word if word in self.words else "<unk>" for word in words), "</s>")
        return sum(log(self.p(rimmed[i], rimmed[:i])) for i in range(1, len(rimmed)))
