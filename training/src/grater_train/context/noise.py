"""Learners' errors put into well-formed text, a batch at a time, with the right answers kept as labels.

A sentence is a row of word types with their tags.  Before each word something may be put in (an extraneous
preposition, article or *to*), and each word may be kept, changed or left out; a row of 2n cells holds both, and the
empty cells are squeezed out at the end.  Labels stand at the words that the network sees: at a written preposition
the one that belongs there, or none; at a word after a gap what is missing before it; and so on for articles, number
and the forms of verbs (`detect.context.heads`).

Each sentence has a level of noise of its own, from none to three times the rates below.  In a third of the sentences
some prepositions and articles are masked, so that the network also learns what fits where nothing is written.
Replacements come mostly from a table of the confusions that teachers of English know, and so do the prepositions put
in after verbs that take none (*discuss about*) and before adverbs (*to home*).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from grater.corpora.text.prepositions import PREPOSITIONS
from grater.detect.context.heads import HEADS
from grater_train.context.words import AM, MASK, TO

IGNORED = -100
NONE = 34
SIZES = tuple(len(head.answers) for head in HEADS)

LEVELS = (0.0, 0.5, 1.0, 2.0, 3.0)
SHARES = (0.2, 0.2, 0.3, 0.2, 0.1)
REPLACED, DELETED, INSERTED, INSERTED_ELSEWHERE, INSERTED_BY_HABIT = 0.06, 0.04, 0.05, 0.008, 0.15
SWAPPED, ARTICLE_DELETED, ARTICLE_INSERTED, INSERTED_THE = 0.05, 0.10, 0.04, 0.7
NUMBER, VERB, MISSPELT, FUNCTION = 0.05, 0.05, 0.02, 0.02
MASKED_SENTENCES, MASKED_SLOTS = 1 / 3, (0.3, 0.7)
MASKED_NONE = 0.25, 0.06
"""In masked sentences: masks put where no article and no preposition belongs."""

CONFUSIONS = """
about: of on for in with to over around; above: over on in upon; across: over through in on along;
after: before in since behind from; against: to with for about on; along: in on through with by;
among: between in of with; around: in about at on over; as: like for with by in;
at: in on to for of by with from; before: until after by in at; behind: after back in under;
between: among in of from with; by: with from in of for on at through; during: in on at for while;
for: to of in about since on with from at by; from: of in by since for at with to on;
in: on at to of for with into by during from; into: in to on at; like: as of with;
of: in for from on about to with at by; off: of from out on; on: in at to of for about with by upon;
over: on in above of about; since: for from in; through: by in with across from;
to: for in at of on with into from toward; toward: to for at against; under: in below on by;
until: to before by since for; upon: on in at of; with: to of by for in about from on at;
within: in during into by; without: with of no
"""
"""For each preposition those that learners write in its place, the commoner first."""

VERB_CONFUSIONS = (
    # base, to + base, present, -s, past, were, participle, -ing
    (0.00, 0.25, 0.00, 0.20, 0.20, 0.00, 0.00, 0.35),
    (0.45, 0.00, 0.00, 0.10, 0.10, 0.00, 0.00, 0.35),
    (0.05, 0.00, 0.00, 0.60, 0.10, 0.00, 0.05, 0.20),
    (0.10, 0.00, 0.70, 0.00, 0.10, 0.00, 0.00, 0.10),
    (0.50, 0.00, 0.00, 0.20, 0.00, 0.05, 0.15, 0.10),
    (0.05, 0.00, 0.35, 0.10, 0.50, 0.00, 0.00, 0.00),
    (0.35, 0.00, 0.00, 0.10, 0.35, 0.00, 0.00, 0.20),
    (0.50, 0.25, 0.00, 0.05, 0.10, 0.00, 0.10, 0.00),
)
TO_DROPPED = 0.8
BASE, TO_BASE, PRESENT, S, PAST, WERE, PARTICIPLE, ING = range(8)
OF_TAGS = {"VB": BASE, "VBP": PRESENT, "VBZ": S, "VBD": PAST, "VBN": PARTICIPLE, "VBG": ING}

Tensor = Any


@dataclass(frozen=True, slots=True, eq=False)
class Noisy:
    """Sentences as the network sees them: word types [n, words], and a label for each head [n, words, 6]."""

    words: Tensor
    labels: Tensor


class NoiseMaker:
    """Corrupts batches on the device that its tables are on."""

    def __init__(self, tables: dict[str, Tensor], tags: list[str], device: str) -> None:
        self.tables = {name: table.to(device) for name, table in tables.items()}
        self.device = device
        self.tags = {tag: number for number, tag in enumerate(tags)}
        self.confusions = _confusion_shares().to(device)
        self.verb_confusions = torch.tensor(VERB_CONFUSIONS, device=device)
        self.verb_class = self._of_tags(OF_TAGS, -1)
        self.is_past = self._tagged("VBD VBN")
        self.starts_object = self._tagged("DT PRP PRP$")
        self.starts_phrase = self._tagged("NN NNS NNP JJ JJR")
        self.takes_object = self._tagged("VB VBD VBG VBN VBP VBZ IN")
        self.is_quantifier = self._tagged("DT JJ JJS PDT RBS")
        self.is_plural = self._tagged("NNS")
        self.is_noun_or_adverb = self._tagged("NN RB NNP")
        self.inside_phrase = self._tagged("DT PRP$ JJ JJR JJS NN NNS NNP CD POS VBN VBG PDT WDT WP$ $")
        self.articles = torch.tensor([[3, 6], [5, 8]], device=device)

    def _of_tags(self, values: dict[str, int], other: int) -> Tensor:
        table = torch.full((len(self.tags),), other, dtype=torch.long)
        for tag, value in values.items():
            table[self.tags[tag]] = value
        return table.to(self.device)

    def _tagged(self, tags: str) -> Tensor:
        return self._of_tags({tag: 1 for tag in tags.split() if tag in self.tags}, 0).bool()

    def __call__(self, words: Tensor, tags: Tensor, generator: torch.Generator) -> Noisy:
        return _Batch(self, words, tags, generator).noisy()


class _Batch:
    """One batch on its way; every tensor is [n, words] unless it says otherwise."""

    def __init__(self, maker: NoiseMaker, words: Tensor, tags: Tensor, generator: torch.Generator) -> None:
        self.maker, self.words, self.tags, self.generator = maker, words, tags, generator
        self.is_word = words > 0
        table = maker.tables
        self.is_to = tags == maker.tags["TO"]
        self.preposition = torch.where(self.is_to, -1, table["preposition"][words].long())
        self.article = table["article"][words].long()
        self.level = self._levels()
        self.is_masked = self.random(words.shape[0], 1) < MASKED_SENTENCES
        self.new = words.clone()
        self.before = torch.zeros_like(words)
        self.before_label = torch.full_like(words, IGNORED)  # 0: an inserted preposition, 1: an inserted article

    def random(self, *shape: int) -> Tensor:
        return torch.rand(*shape, device=self.words.device, generator=self.generator)

    def chance(self, rate: float) -> Tensor:
        return self.random(*self.words.shape) < rate * self.level

    def _levels(self) -> Tensor:
        shares = torch.tensor(SHARES, device=self.words.device)
        drawn = torch.multinomial(shares, self.words.shape[0], replacement=True, generator=self.generator)
        return torch.tensor(LEVELS, device=self.words.device)[drawn][:, None]

    def noisy(self) -> Noisy:
        self.first = torch.zeros_like(self.is_word)
        self.first[:, 0] = True
        self.change_words()
        self.change_verbs()
        self.change_prepositions()
        self.change_articles()
        self.insert()
        self.mask()
        return self.squeezed()

    def change_words(self) -> None:
        """Number, misspellings, function words."""
        table = self.maker.tables
        tag = self.maker.tags
        number = table["number"][self.words].long()
        is_noun = ((self.tags == tag["NN"]) | (self.tags == tag["NNS"])) & (number[..., 0] != number[..., 1])
        plural = self.tags == tag["NNS"]
        self.number_label = torch.where(is_noun, plural.long(), IGNORED)
        other = torch.where(plural, number[..., 0], number[..., 1])
        self.new = torch.where(is_noun & self.chance(NUMBER), other, self.new)
        for name, rate in (("misspelt", MISSPELT), ("confused", FUNCTION)):
            changed = table[name][self.new].long()
            hit = (changed > 0) & self.chance(rate) & (self.new == self.words)
            self.new = torch.where(hit & (self.preposition < 0) & (self.article < 0) & ~self.is_to, changed, self.new)
            self.number_label = torch.where(hit, IGNORED, self.number_label)

    def change_verbs(self) -> None:
        is_past = self.maker.is_past[self.tags].long()
        row = self.maker.tables["verb"][self.words].gather(-1, is_past[..., None])[..., 0].long()
        surface = self.maker.tables["paradigms"][row].long()
        kind = self._verb_kinds(surface)
        written = surface.gather(-1, kind.clamp(min=0)[..., None])[..., 0]
        fits = (written == self.words) | ((self.words == AM) & (kind == PRESENT))
        is_verb = (kind >= 0) & (row > 0) & (self.new == self.words) & fits
        self.verb_label = torch.where(is_verb, kind, IGNORED)
        shares = self.maker.verb_confusions[kind.clamp(min=0)].view(-1, len(VERB_CONFUSIONS))
        drawn = torch.multinomial(shares, 1, generator=self.generator).view(kind.shape)
        hit = is_verb & self.chance(VERB) & ~self.first
        self.new = torch.where(hit, surface.gather(-1, drawn[..., None])[..., 0], self.new)
        drops = hit & (kind == TO_BASE) & (drawn != TO_BASE) & (self.random(*kind.shape) < TO_DROPPED)
        self.new = torch.where(_shifted(drops, -1), 0, self.new)
        self.before = torch.where(hit & (kind != TO_BASE) & (drawn == TO_BASE), TO, self.before)

    def _verb_kinds(self, surface: Tensor) -> Tensor:
        """Which of the eight forms each verb has; -1 for other words."""
        kind = self.maker.verb_class[self.tags]
        kind = torch.where((kind == BASE) & _shifted(self.is_to, 1), TO_BASE, kind)
        is_were = (surface[..., WERE] != surface[..., PAST]) & (self.words == surface[..., WERE])
        return torch.where((kind == PAST) & is_were, WERE, kind)

    def change_prepositions(self) -> None:
        is_preposition = self.preposition >= 0
        drawn = self.random(*self.words.shape)
        replaced = is_preposition & (drawn < REPLACED * self.level)
        deleted = is_preposition & ~replaced & (drawn < (REPLACED + DELETED) * self.level)
        shares = self.maker.confusions[self.preposition.clamp(min=0)].view(-1, 34)
        other = torch.multinomial(shares, 1, generator=self.generator).view(self.words.shape)
        self.new = torch.where(replaced, self._written(other), self.new)
        self.deleted_preposition = deleted & ~self._is_last()
        self.new = torch.where(self.deleted_preposition, 0, self.new)

    def _written(self, preposition: Tensor) -> Tensor:
        """Word types of prepositions, capital at the start of a sentence."""
        return self.maker.tables["written"][preposition, self.first.long()].long()

    def _is_last(self) -> Tensor:
        return ~_shifted(self.is_word, -1)

    def change_articles(self) -> None:
        is_article = self.article >= 0
        drawn = self.random(*self.words.shape)
        swapped = is_article & (drawn < SWAPPED * self.level)
        deleted = is_article & ~swapped & (drawn < (SWAPPED + ARTICLE_DELETED) * self.level)
        self.new = torch.where(swapped, self._article(1 - self.article.clamp(min=0)), self.new)
        self.deleted_article = deleted & ~self._is_last()
        self.new = torch.where(self.deleted_article, 0, self.new)
        gone = (self.new == 0) & self.is_word & self.first
        capital = self.maker.tables["capital"][self.new].long()
        self.new = torch.where(_shifted(gone, 1) & (capital > 0), capital, self.new)

    def _article(self, article: Tensor) -> Tensor:
        """Word types of articles; *an* before a vowel."""
        vowel = _shifted(self.maker.tables["begins_with_vowel"][self.words], -1)
        plain = self.maker.articles[article, self.first.long()]
        return torch.where((article == 0) & vowel, plain + 1, plain)

    def insert(self) -> None:
        """Extraneous prepositions and articles, where nothing was left out just before."""
        free = self.is_word & ~self.first & (self.new > 0) & ~_shifted(self.new == 0, 1)
        self._insert_prepositions(free)
        self._insert_articles(free)

    def _insert_prepositions(self, free: Tensor) -> None:
        near = _shifted(self.preposition >= 0, 1) | (self.preposition >= 0) | self.is_to
        starts = self.maker.starts_object[self.tags]
        habit = self._habits()
        rate = torch.where(starts, INSERTED, INSERTED_ELSEWHERE)
        rate = torch.where(habit > 0, INSERTED_BY_HABIT, rate) * self.level
        rate = torch.where(self.is_masked & starts, MASKED_NONE[1], rate)
        hit = free & ~near & (self.before == 0) & (self.random(*self.words.shape) < rate)
        shares = self.maker.tables["habits"].clone()
        shares[0] = self.maker.tables["frequency"]
        drawn = torch.multinomial(shares[habit].view(-1, 34), 1, generator=self.generator)
        written = self.maker.tables["written"][drawn.view(self.words.shape), 0].long()
        self.before = torch.where(hit, written, self.before)
        self.before_label = torch.where(hit, 0, self.before_label)

    def _habits(self) -> Tensor:
        """The row of what learners put in before each word, because of it or the word before; 0 where nothing."""
        maker, tags, last = self.maker, self.tags, _shifted(self.tags, 1)
        after = _shifted(maker.tables["extra_after"][self.words].long(), 1)
        before = maker.tables["extra_before"][self.words].long()
        starts = maker.starts_object[tags] | maker.starts_phrase[tags]
        takes = maker.takes_object[last] & starts | maker.is_quantifier[last] & maker.is_plural[tags]
        stands = maker.is_noun_or_adverb[tags] | maker.is_noun_or_adverb[_shifted(tags, -1)]
        stands &= ~maker.is_quantifier[last] & ~maker.takes_object[tags]
        return torch.where(takes & (after > 0), after, before * stands)

    def _insert_articles(self, free: Tensor) -> None:
        inside = _shifted(self.maker.inside_phrase[self.tags], 1)
        rate = torch.where(self.is_masked, MASKED_NONE[0], ARTICLE_INSERTED * self.level)
        starts = self.maker.starts_phrase[self.tags] & ~inside
        hit = free & starts & (self.before == 0) & (self.random(*self.words.shape) < rate)
        article = (self.random(*self.words.shape) < INSERTED_THE).long()
        vowel = self.maker.tables["begins_with_vowel"][self.words]
        plain = self.maker.articles[article, 0]
        self.before = torch.where(hit, torch.where((article == 0) & vowel, plain + 1, plain), self.before)
        self.before_label = torch.where(hit, 1, self.before_label)

    def mask(self) -> None:
        few, many = MASKED_SLOTS
        rate = torch.where(self.random(self.words.shape[0], 1) < 0.5, few, many) * self.is_masked
        slot = ((self.preposition >= 0) | (self.article >= 0)) & (self.new > 0)
        self.new = torch.where(slot & (self.random(*self.words.shape) < rate), MASK, self.new)
        inserted = (self.before_label >= 0) & (self.random(*self.words.shape) < rate)
        extra = self.is_masked & (self.before_label >= 0) & ~inserted & (self.random(*self.words.shape) < 0.7)
        self.before = torch.where(inserted, MASK, self.before)
        self.before = torch.where(extra, 0, self.before)  # too many visible extras would teach that they are common
        self.before_label = torch.where(extra, IGNORED, self.before_label)

    def squeezed(self) -> Noisy:
        cells = torch.stack([self.before, self.new], dim=2).flatten(1)
        labels = torch.stack([self._labels_before(), self._labels_at()], dim=2).flatten(1, 2)
        order = torch.sort((cells == 0).byte(), dim=1, stable=True).indices
        longest = int((cells > 0).sum(1).max())
        order = order[:, :longest]
        return Noisy(words=cells.gather(1, order), labels=labels.gather(1, order[..., None].expand(-1, -1, 6)))

    def _labels_before(self) -> Tensor:
        labels = self.words.new_full((*self.words.shape, 6), IGNORED)
        labels[..., 0] = torch.where(self.before_label == 0, NONE, IGNORED)
        labels[..., 2] = torch.where(self.before_label == 1, 2, IGNORED)
        return labels

    def _labels_at(self) -> Tensor:
        kept = self.new > 0
        labels = self.words.new_full((*self.words.shape, 6), IGNORED)
        labels[..., 0] = torch.where(kept & (self.preposition >= 0), self.preposition, IGNORED)
        gap = torch.where(_shifted(self.deleted_preposition, 1), _shifted(self.preposition, 1), NONE)
        farther = _shifted(self.deleted_article, 1) & _shifted(self.deleted_preposition, 2)
        gap = torch.where(farther, _shifted(self.preposition, 2), gap)
        labels[..., 1] = torch.where(kept & (self.before == 0), gap, IGNORED)
        labels[..., 2] = torch.where(kept & (self.article >= 0), self.article, IGNORED)
        gap = torch.where(_shifted(self.deleted_article, 1), _shifted(self.article, 1), 2)
        labels[..., 3] = torch.where(kept & (self.before_label != 1) & (self.article < 0), gap, IGNORED)
        labels[..., 4] = torch.where(kept, self.number_label, IGNORED)
        labels[..., 5] = torch.where(kept, self.verb_label, IGNORED)
        return labels


def _shifted(tensor: Tensor, by: int) -> Tensor:
    """The value `by` words earlier; zeros come in at the edge."""
    moved = torch.roll(tensor, by, dims=1)
    if by > 0:
        moved[:, :by] = 0
    else:
        moved[:, by:] = 0
    return moved


def _confusion_shares() -> Tensor:
    """For each preposition what stands in its place: known confusions, then by chance."""
    shares = torch.full((34, 34), 0.18 / 33)
    for line in CONFUSIONS.replace("\n", " ").split(";"):
        name, _, others = line.strip().partition(":")
        known = [PREPOSITIONS.index(other) for other in others.split() if other in PREPOSITIONS]
        weights = torch.tensor([1 / (rank + 2) for rank in range(len(known))])
        shares[PREPOSITIONS.index(name), known] += 0.82 * weights / weights.sum()
    shares.fill_diagonal_(0.0)
    return shares
