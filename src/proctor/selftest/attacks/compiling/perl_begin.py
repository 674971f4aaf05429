# title: What a BEGIN block leaves while the syntax is checked, for the run
# kind: compile
# must: held
# language: perl
# source: printed
print(r"""BEGIN { $known = -e "note"; open F, ">", "note"; close F; }
print $known ? "through: it was computed before\n" : "held\n";""")
