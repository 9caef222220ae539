"""Edits out of a sentence and its correction: aligned, merged, typed.

`align` pairs the words of the two sides, `merge` makes edits of neighbouring operations, `types` names their kind;
`engine` does all three for many pairs at once, by our own rules or by the errant package.
"""
