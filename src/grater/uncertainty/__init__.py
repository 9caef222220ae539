"""Every confidence interval, resampling scheme and significance test of grater.

| module | what it holds |
|---|---|
| `intervals` | from a standard error, or from the draws of a bootstrap, to an interval |
| `proportions` | Wilson and Jeffreys for a proportion, also in a finite population |
| `stratified` | totals, precision, recall and F from a stratified sample; MOVER for sums and ratios |
| `bootstrap` | units drawn again: rows, weighted patterns, sentences, documents; swaps for randomisation tests |
| `bca` | the bias-corrected and accelerated bootstrap for functions of sums |
| `population` | what an interval is about, the design effect, the rule for few essays; the test of dispersion |
| `student_t` | intervals and tests where few units are drawn |
| `paired` | bootstrap, randomisation and McNemar's tests of two systems on the same items; Holm, rank groups |

All of it works on numbers and arrays; nothing here knows of tables, files or essays.
"""
