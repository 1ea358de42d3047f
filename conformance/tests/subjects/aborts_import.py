"""Dies while it is imported."""

import os

os.abort()
