"""A crowd's joint answers, which raters to trust, and simulated crowds for planning (docs/crowd.md).

`grater.measure.crowd.aggregate.aggregate`, `grater.measure.crowd.raters.raters` and
`grater.measure.crowd.simulate.simulate` do the work. Each is named after its module, so none is lifted here, where it
would hide it.
"""
