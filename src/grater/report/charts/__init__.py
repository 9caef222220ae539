"""The figures of the papers and ours, one file each: results in, a chart with its words out."""
