"""Big jobs over shards: several processes on one machine, Apache Spark beyond it, the same functions and results.

`shards` cuts a corpus into numbered Parquet files; `jobs` says what a job is and runs one over shards; `engines` are
the ways to run it.  `passes` and `counting` are the jobs.
"""
