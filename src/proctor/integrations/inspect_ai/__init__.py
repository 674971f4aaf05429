"""For inspect_ai: the sandbox provider `proctor`, the scorer `proctor_judge`, benchmarks as tasks.

inspect_ai loads this by entry point (group `inspect_ai` in pyproject.toml). Extra `inspect`.
"""

from proctor.integrations.inspect_ai.config import SandboxConfig as SandboxConfig
from proctor.integrations.inspect_ai.sandbox import (
    ProctorSandboxEnvironment as ProctorSandboxEnvironment,
)
from proctor.integrations.inspect_ai.scorer import proctor_judge as proctor_judge
from proctor.integrations.inspect_ai.tasks import benchmark_file as benchmark_file
from proctor.integrations.inspect_ai.tasks import official as official
from proctor.integrations.inspect_ai.tasks import standard as standard
