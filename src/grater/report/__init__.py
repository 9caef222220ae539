"""What a study found, for people: charts, tables and words in one page that works offline.

Charts are values (Vega-Lite specifications as plain dictionaries) until `drawing` turns them into SVG, PNG or PDF;
`save` is the only file that writes.

The figures of the papers and ours, one file each: results in, a chart with its words out.

The questions of a report, one file each: from the inputs to words, pictures and tables.
"""
