"""Keep sibling embeddings, the usages of words and their vectors, in a folder on disk.

In: corpora and words, or usages whose sentences are known, and an encoder (:mod:`~lexshift.store.embedding`). Out: an
opened store (:class:`~lexshift.store.siblings.Siblings`). An interrupted run resumes, words and corpora can be added,
and every byte has a checksum. Nothing here computes a score.
"""
