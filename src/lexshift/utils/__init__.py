"""Shared helpers that know nothing of the subject: checks, files, seeds, threads, kernels, memory, progress."""
