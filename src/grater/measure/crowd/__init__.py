"""A crowd's joint answers, which raters to trust, and simulated crowds for planning (docs/crowd.md).

`grater.measure.crowd.aggregate.aggregate`, `grater.measure.crowd.raters.raters` and
`grater.measure.crowd.simulate.simulate` are the entry points. They are not re-exported here, since each would hide
the module of the same name.
"""
