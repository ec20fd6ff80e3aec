"""Types, configuration, models and stores of elt_llm.

Importing any part of it disables the telemetry of its dependencies, so that nothing
leaves this machine.
"""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
os.environ["ANONYMIZED_TELEMETRY"] = "False"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
