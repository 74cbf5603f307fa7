"""Collect evidence at the level of usages and senses: which usages show a change, and the shares of senses per period.

In: the vectors of a word's usages in each period, arrays of shape (n, d), or the sense and period of each usage. Out: a
number for each usage or sense, and coordinates on a plane. Nothing here opens a file.
"""
