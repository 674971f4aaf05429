"""Points the SDK's clients of hosted services at the server in JUDGE0_CE_ENDPOINT; a pytest plugin.

Its tests and two thirds of its examples cannot be told another address.
"""

import os

from judge0 import clients

for name, variable in (("CE", "JUDGE0_CE_ENDPOINT"), ("ExtraCE", "JUDGE0_EXTRA_CE_ENDPOINT")):
    for service in ("ATDJudge0", "RapidJudge0", "Judge0Cloud"):
        getattr(clients, service + name).DEFAULT_ENDPOINT = os.environ[variable]
