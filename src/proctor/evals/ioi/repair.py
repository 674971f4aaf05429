"""What models forget, added before their programs are judged. Only where it was asked for."""

import re

_BITS = "#include <bits/stdc++.h>"
_NAMESPACE = "using namespace std;"


def add_includes(code: str, header: str) -> str:
    """The C++ program with the standard headers and the task's `header` in front.

    And with `using namespace std;`, if the program has neither that nor any `std::`. As the
    published pipeline's function of this name, but nothing is added twice. Messages of the
    compiler keep the program's own line numbers.
    """
    wanted = [] if "bits/stdc++.h" in code else [_BITS]
    if not re.search(rf'#\s*include\s*["<]{re.escape(header)}[">]', code):
        wanted.append(f'#include "{header}"')
    if _NAMESPACE not in code and "std::" not in code:
        wanted.append(_NAMESPACE)
    return "\n".join([*wanted, "#line 1", code]) if wanted else code
