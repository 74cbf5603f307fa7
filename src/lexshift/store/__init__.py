"""Sibling embeddings on disk: usages go in, a folder of vectors that can be resumed, extended and checked comes out."""
