"""Helpers without knowledge of the subject: checks, files, seeds, threads, kernels, consoles and progress.

In: arguments, paths, arrays, functions. Out: the same values checked, files written atomically, random
streams, compiled loops. Every other folder may import from here; nothing here imports from another folder.
"""
