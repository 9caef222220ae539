"""A tag set of one tag."""

from grater.extend import Tag, TagSet

TAGSET = TagSet("house", "House style", (Tag("V", "Verb", "words", "A wrong verb.", "She [go → goes]."),))
