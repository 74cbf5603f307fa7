"""Plant change: corpora in which it is known how much each word changed, and the power of the test of change.

In: corpora of real text. Out: corpora with planted change and their gold, or a table of power by number of usages.

Sentences of two real words, the source words, are given one invented word (a pseudoword), which stands where the source
word stood. The mix of the two source words differs between periods by a known share. All else is left to chance: which
sentence goes to which period is drawn at random.
"""
