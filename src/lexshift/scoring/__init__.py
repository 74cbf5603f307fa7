"""Score how much the usages of a word differ between two periods: the paper, with tests and intervals.

In: the vectors of a word's usages in each period, arrays of shape (n, d), and a seed. Out: change scores (SSCD), their
intervals, p and q values, swap rates, change points and seasons. Nothing here opens a file.
"""
