"""Libraries that docs/reference/languages.md says are there, or not."""

import pytest

from language_here import need
from proctor.errors import CompileFailed
from proctor.languages.run import run
from proctor.program import Program

pytestmark = pytest.mark.user

THERE = {
    "c": """
#include <math.h>
#include <pthread.h>
#include <stdio.h>
static void *give(void *p) { return p; }
int main(int argc, char **argv) {
    pthread_t t;
    void *got;
    if (pthread_create(&t, 0, give, argv) || pthread_join(t, &got)) return 3;
    printf("%g\\n", 4 + cos(argc - 1.0));
}
""",
    "cpp17": """
#include <algorithm>
#include <bits/stdc++.h>
#include <execution>
#include <ext/pb_ds/assoc_container.hpp>
int main() {
    std::vector<int> v{3, 5, 1};
    std::sort(std::execution::par, v.begin(), v.end());
    __gnu_pbds::tree<int, __gnu_pbds::null_type, std::less<int>, __gnu_pbds::rb_tree_tag,
                     __gnu_pbds::tree_order_statistics_node_update> t;
    t.insert(v[2]);
    std::cout << std::async(std::launch::async, [&] { return *t.find_by_order(0); }).get() << "\\n";
}
""",
    "java": """
import java.awt.geom.Point2D;
import java.util.concurrent.*;
class Library {
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        System.out.println((int) (double) pool.submit(() -> new Point2D.Double(5, 0).distance(0, 0)).get());
        pool.shutdown();
    }
}
""",
    "python": """
import bz2, ctypes, decimal, fractions, lzma, sqlite3, threading, zlib
thread = threading.Thread(target=lambda: print(5))
thread.start()
thread.join()
""",
    "go": """
package main

import (
	"fmt"
	"math/big"
	"sync"
)

func main() {
	var all sync.WaitGroup
	all.Add(1)
	go func() { all.Done() }()
	all.Wait()
	fmt.Println(big.NewInt(5))
}
""",
    "rust": "fn main() { println!(\"{}\", std::thread::spawn(|| 5).join().unwrap()); }\n",
    "csharp": "class P { static void Main() { System.Console.WriteLine(new System.Numerics.BigInteger(5)); } }",
    "ruby": "require 'prime'; require 'matrix'; require 'bigdecimal'\nputs Prime.first(3).last\n",
    "perl": "use List::Util qw(sum); use POSIX; use bigint; print sum(2, 3), \"\\n\";\n",
    "javascript": "const os = require('os'), zlib = require('zlib'); console.log(5);\n",
}  # fmt: skip


@pytest.mark.parametrize("language", THERE)
def test_what_is_there(language: str) -> None:
    need(language)
    done = run(Program(THERE[language], language))
    assert (done.stdout, done.stderr) == (b"5\n", b"")


def test_what_needs_to_be_linked_is_not_there() -> None:
    source = "#include <dlfcn.h>\nextern int __gmpz_init(void *);\nint main() { return __gmpz_init(0); }\n"
    with pytest.raises(CompileFailed) as caught:
        run(Program(source, "c"))
    assert "undefined reference" in caught.value.output


def test_go_that_is_no_program_does_not_compile() -> None:
    need("go")
    with pytest.raises(CompileFailed) as caught:
        run(Program("package sum\n\nfunc Add(a, b int) int { return a + b }\n", "go"))
    assert "main package" in caught.value.output
