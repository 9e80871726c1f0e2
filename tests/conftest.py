"""Settings of all property tests."""

from hypothesis import HealthCheck, settings

# The first example of a test may compile kernels, and machines may be busy: time says nothing about right or wrong.
settings.register_profile("treebp", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("treebp")
