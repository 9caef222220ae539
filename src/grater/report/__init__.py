"""What a study found, for people: charts, tables and words in one page that works offline.

Charts are values (Vega-Lite specifications as plain dictionaries) until `drawing` turns them into SVG, PNG or PDF;
`save` is the only file that writes.
"""
