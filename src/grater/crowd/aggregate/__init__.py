"""One answer for each item from many judgments: a file for each method, named as in `METHODS`."""

from grater.crowd.aggregate.accuracy import accuracy
from grater.crowd.aggregate.aggregation import METHODS, Aggregation, aggregate
from grater.crowd.aggregate.fit import Fit, Method, Options

__all__ = ["METHODS", "Aggregation", "Fit", "Method", "Options", "accuracy", "aggregate"]
