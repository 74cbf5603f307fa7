"""Change that is known because it was planted: corpora to try methods on, and how many usages a change needs.

Sentences of two real words are given one invented name (a pseudoword), which stands where the word stood, and the mix
of the two differs between periods by a known share. All else is left to chance: which sentence goes to which period is
drawn at random.
"""
