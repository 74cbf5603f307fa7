"""The three questions, compare, discover and trace: corpora and words go in, a result and its folder come out."""
