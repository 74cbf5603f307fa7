"""Pages: self-contained web pages that show a result, and the short view of a result in a notebook.

A :class:`lexshift.Result`, a :class:`lexshift.Discovery` or a :class:`lexshift.Trace` goes in, HTML text comes out. All
pages share one base: ``page.py`` with ``base.html``, ``base.css``, ``base.js``, ``charts.js`` and ``table.js``. Nothing
here computes a score.
"""
