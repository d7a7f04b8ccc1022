"""The process in which a solution of the torch dialect runs (docs/dialect.md).

It belongs to the solution: whatever stands here, the solution can change once it runs. So nothing here decides anything
in the solution's favour; the judge owns the inputs, the memory that results are read from, and the clock.
"""
