"""One profile for all property tests: no deadline, as a busy machine is no fault."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("canvass", deadline=None, max_examples=60)
settings.load_profile("canvass")
