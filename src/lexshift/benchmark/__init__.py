"""Measure how well scores agree with human judgement, and reproduce the tables and figures of the paper.

In: a data set with human judgements (:mod:`~lexshift.benchmark.datasets`) and an encoder. Out: tables of systems with
their agreement with the gold, and the paper's exhibits next to the published figures.
"""
