"""Every confidence interval, resampling scheme and significance test of grater.

| module | what it holds |
|---|---|
| `intervals` | from a standard error, or from the draws of a bootstrap, to an interval |
| `proportions` | Wilson and Jeffreys for a proportion, also in a finite population |
| `stratified` | totals, precision, recall and F from a stratified sample; MOVER for sums and ratios |
| `bootstrap` | units drawn again: rows, weighted patterns, sentences, documents; swaps for randomisation tests |
| `bca` | the bias-corrected and accelerated bootstrap for functions of sums |
| `population` | what an interval is about, the design effect, and the rule for few essays |
| `student_t` | intervals and tests where few units are drawn |
| `paired` | bootstrap and randomisation tests between systems on the same items |
| `mcnemar` | McNemar's test for two systems |
| `dispersion` | whether events fall on units by chance alone |
| `multiple` | Holm's correction and rank groups |

All of it works on numbers and arrays; nothing here knows of tables, files or essays.
"""
