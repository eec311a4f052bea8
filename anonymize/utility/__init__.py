"""Measures of how useful published tables are. They share no code with what made the tables.

`discernibility` looks at sizes of groups, `queries` at the error of counts estimated from them.
"""
