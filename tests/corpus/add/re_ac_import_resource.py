# why: upstream makes `import resource` fail
import resource

resource.getrlimit(resource.RLIMIT_STACK)
a, b = map(int, input().split())
print(a + b)
