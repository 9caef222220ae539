"""The results of a study for people: words, charts and tables in one page that works offline.

Each question of the report is one module: from the inputs to words, figures and tables.  Charts are values (Vega-Lite
specifications as plain dictionaries) until `drawing` turns them into SVG, PNG or PDF; `save` is the only module that
writes.
"""
