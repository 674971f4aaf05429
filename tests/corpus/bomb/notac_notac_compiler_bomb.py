# why: code that takes the compiler longer than the limit is the program's own time
source = "\n".join(f"x{i} = lambda: (x{i}, {i}) + ({i},) * {i % 200}" for i in range(400_000))
exec(compile(source, "generated", "exec"))
