"""SandboxFusion's HTTP API, which verl and a dozen training stacks speak."""
