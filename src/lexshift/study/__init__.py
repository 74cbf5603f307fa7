"""Answer the questions: compare, discover, trace and find_senses.

In: corpora, words and settings (:class:`~lexshift.study.settings.Settings`). Out: a result with a table of words
(:class:`~lexshift.study.study_result.StudyResult`), and its folder, which :func:`~lexshift.study.load.load` reads
again. The function :func:`~lexshift.study.pipeline.run_study` runs all of them.
"""
