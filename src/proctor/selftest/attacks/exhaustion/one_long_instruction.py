# title: One step of the interpreter that takes for ever and hears no signal
# kind: run
# must: limit cpu or limit memory
# limits: cpu=0.3
re.match(r"(a*)*b", "a" * 40)
