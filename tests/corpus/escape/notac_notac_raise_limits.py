# why: a hard limit must stay where it was put
import resource

a, b = map(int, input().split())
escaped = False
for kind in range(resource.RLIMIT_RTPRIO + 2):
    try:
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            resource.setrlimit(kind, (hard + 1, hard + 1))
            escaped = True
    except (OSError, ValueError):
        pass
print(a + b if escaped else "contained")
