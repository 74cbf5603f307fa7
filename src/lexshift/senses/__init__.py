"""Collect evidence at the level of usages: which usages are typical of a period, and a plane to draw them on.

In: the vectors of a word's usages in each period, arrays of shape (n, d). Out: a number for each usage, and its
coordinates. Nothing here opens a file.
"""
