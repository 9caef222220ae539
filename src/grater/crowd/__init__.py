"""A crowd's joint answers, which raters to trust, and simulated crowds for planning (docs/crowd.md).

`grater.crowd.aggregate.aggregate`, `grater.crowd.raters.raters` and `grater.crowd.simulate.simulate` do the work.
Each is named after its module, so none is lifted here, where it would hide it.
"""
