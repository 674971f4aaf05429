"""For inspect_ai: the sandbox provider `proctor` and the scorer `proctor_judge`.

inspect_ai loads this by entry point (group `inspect_ai` in pyproject.toml). Extra `inspect`.
"""

from proctor.integrations.inspect_ai.config import SandboxConfig as SandboxConfig
from proctor.integrations.inspect_ai.sandbox import (
    ProctorSandboxEnvironment as ProctorSandboxEnvironment,
)
from proctor.integrations.inspect_ai.scorer import proctor_judge as proctor_judge
