"""Settings that all tests share."""

from hypothesis import settings

# Deadlines measure the machine; reproducible examples make a failure everybody's failure.
settings.register_profile("default", deadline=None, print_blob=True)
settings.load_profile("default")
