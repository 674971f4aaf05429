# title: Raising its own hard limits
# kind: run
# must: held
# needs: kernel
import resource

for kind in range(16):
    try:
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            resource.setrlimit(kind, (hard + 1, hard + 1))
            found.append(f"limit {kind}")
    except (OSError, ValueError):
        pass
finish()
