"""Answer the three questions: compare, discover and trace.

In: corpora, words and settings (:class:`~lexshift.study.settings.Settings`). Out: a result with a table of words
(:class:`~lexshift.study.result.StudyResult`), and its folder, which :func:`~lexshift.study.load.load` reads again. The
path from the one to the other is :func:`~lexshift.study.pipeline.run_study`, for all three questions.
"""
