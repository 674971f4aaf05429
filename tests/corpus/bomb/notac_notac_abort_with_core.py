# why: a crash that asks for a core file first
import os
import resource

resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
os.abort()
