"""Proctor inside other frameworks.

Drop-ins with other packages' names: `lcb_runner`, `open_r1`. Plug-ins:
`inspect_ai`, `smolagents`, `verifiers`, each of which needs the extra of its name. Rewards:
`rewards` (TRL) and `verl`, over `grading` and `ioi_grading`; `rows` reads the data sets' forms.
"""
