"""The pictures are well-formed and true to their figures."""

import xml.etree.ElementTree as ElementTree

from hypothesis import given
from hypothesis import strategies as st

from treebp.drawing.timings import Timing, growth_picture, stages_picture

NAMESPACE = "{http://www.w3.org/2000/svg}"
SECONDS = st.floats(1e-3, 1e4)


@given(st.lists(st.one_of(st.just(0.0), SECONDS), min_size=1, max_size=10))
def test_each_stage_begins_where_the_last_one_ended(medians):
    stages = [Timing(f"<{k}> & co", value, (value, value)) for k, value in enumerate(medians)]
    bars = list(ElementTree.fromstring(stages_picture(stages)).iter(f"{NAMESPACE}rect"))
    assert len(bars) == len(medians)
    begin = 120.0
    for bar, median in zip(bars, medians, strict=True):
        assert abs(float(bar.attrib["x"]) - begin) < 0.11
        width = float(bar.attrib["width"])
        assert abs(width - 400 * median / (sum(medians) or 1.0)) < 0.11
        begin = 120.0 + 400 * sum(medians[: bars.index(bar) + 1]) / (sum(medians) or 1.0)


@given(st.lists(SECONDS, min_size=2, max_size=6))
def test_growth_stays_inside_and_longer_times_stand_higher(times):
    lengths = [20 * 2**k for k in range(len(times))]
    growth = [Timing(f"{n} words", time, (time, time)) for n, time in zip(lengths, times, strict=True)]
    circles = list(ElementTree.fromstring(growth_picture(lengths, growth, 2.0)).iter(f"{NAMESPACE}circle"))
    heights = [float(circle.attrib["cy"]) for circle in circles]
    assert len(heights) == len(times)
    assert all(39.9 <= height <= 320.1 for height in heights)
    assert heights[times.index(max(times))] == min(heights)
