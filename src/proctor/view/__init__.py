"""`proctor view`: runs of evaluations in the browser, for the person at this machine.

Runs are only read, also while another process writes to them. What is shown holds the tests that
a problem keeps from those who solve it: no program, and no page of another host, gets any of it.
"""
