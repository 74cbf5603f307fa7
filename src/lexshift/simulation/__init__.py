"""Plant change: make corpora in which the change of each word is known, and estimate the power of the test.

In: corpora of real text. Out: corpora with planted change and their gold, or a table of power by number of usages.

A pseudoword is an invented word that replaces two real words, its source words, in their sentences. The share of either
source word differs between periods by a known amount. Sentences are assigned to periods at random, or with ``separate``
each period has the sentences of its own corpus.
"""
