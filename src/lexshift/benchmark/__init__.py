"""The field's data sets, what methods score on them, and the paper's tables and figures."""
