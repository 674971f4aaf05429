from proctor.evals.ioi.submissions import add_includes


def test_what_is_missing_is_added() -> None:
    assert add_includes("int f();", "task.h") == (
        '#include <bits/stdc++.h>\n#include "task.h"\nusing namespace std;\n#line 1\nint f();'
    )


def test_what_is_there_is_not_added_again() -> None:
    code = '#include <bits/stdc++.h>\n# include "task.h"\nstd::string s;'
    assert add_includes(code, "task.h") == code
    assert add_includes(code, "other.h") == f'#include "other.h"\n#line 1\n{code}'
