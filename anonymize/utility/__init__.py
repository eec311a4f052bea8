"""How useful a release is: measures of published tables, which share no code with what made them.

`discernibility` looks at sizes of groups, `queries` at the error of counts estimated from them.
"""
