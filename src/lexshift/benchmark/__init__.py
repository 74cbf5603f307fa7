"""Data sets with human judgements, the scores of systems on them, and the tables and figures of the paper."""
