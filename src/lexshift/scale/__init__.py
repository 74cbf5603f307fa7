"""Corpora of any size: parts that are worked on beside one another, on this machine or on a cluster, and kept."""
