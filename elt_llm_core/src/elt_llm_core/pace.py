"""How long it still takes, once there is something to tell it by."""

import time
from collections.abc import Callable

BASIS_SECONDS = 3.0
BASIS_SHARE = 0.02
MINUTE, HOUR = 60.0, 3600.0


class Pace:
    """Work done so far against the clock, which never jumps.

    `total` is in any unit that grows with the work, such as bytes.
    """

    def __init__(
        self, total: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._total = total
        self._clock = clock
        self._began = clock()

    def left(self, done: float) -> str:
        """`about 3 min left`; empty before there is a basis, and at the end."""
        seconds = self._clock() - self._began
        share = done / self._total if self._total else 0.0
        if seconds < BASIS_SECONDS or not BASIS_SHARE <= share < 1:
            return ""
        return f"about {spoken(seconds * (1 - share) / share)} left"


def spoken(seconds: float) -> str:
    """`40 s`, `3 min`, `2 h`: no more precise than a forecast is."""
    if seconds < MINUTE:
        return f"{max(5, 5 * round(seconds / 5))} s"
    if seconds < 1.5 * HOUR:
        return f"{round(seconds / MINUTE)} min"
    return f"{round(seconds / HOUR)} h"
