"""Decide where work runs, on this machine or on a Ray cluster, and cache the parts that are finished.

In: corpora to be counted or scanned, and shards to be encoded. Out: the same counts, occurrences and vectors,
whichever engine computed them. Nothing here knows about statistics.
"""
