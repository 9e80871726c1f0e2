import xml.etree.ElementTree as ElementTree

from hypothesis import given
from hypothesis import strategies as st

from treebp.drawing.line_plot import line_plot, stacked

NAMESPACE = "{http://www.w3.org/2000/svg}"


@given(st.lists(st.lists(st.floats(0, 100), min_size=3, max_size=3), min_size=1, max_size=5))
def test_a_plot_keeps_all_points_inside(series: list[list[float]]) -> None:
    svg = line_plot([1, 2, 4], {f"<{k}>": line for k, line in enumerate(series)}, across="a & b", up="<up>")
    root = ElementTree.fromstring(svg)
    circles = list(root.iter(f"{NAMESPACE}circle"))
    assert len(circles) == 3 * len(series)
    for circle in circles:
        assert 60 <= float(circle.attrib["cx"]) <= 470
        assert 19.9 <= float(circle.attrib["cy"]) <= 265.1
    # Higher is better, so it stands higher.
    values = [value for line in series for value in line]
    heights = [float(circle.attrib["cy"]) for circle in circles]
    best = max(range(len(values)), key=values.__getitem__)
    assert heights[best] == min(heights)


@given(
    st.lists(
        st.lists(st.none() | st.tuples(st.floats(0, 100), st.floats(0, 30)), min_size=3, max_size=3),
        min_size=1,
        max_size=5,
    ).filter(lambda series: any(point for line in series for point in line))
)
def test_bars_stay_inside_and_hold_their_points(series: list[list[tuple[float, float] | None]]) -> None:
    lines = {f"<{k}>": [point and point[0] for point in line] for k, line in enumerate(series)}
    ranges = {
        f"<{k}>": [point and (point[0] - point[1], point[0] + point[1]) for point in line]
        for k, line in enumerate(series)
    }
    root = ElementTree.fromstring(line_plot("abc", lines, across="x", up="y", title="t", ranges=ranges))
    circles = list(root.iter(f"{NAMESPACE}circle"))
    bars = [path.attrib["d"] for path in root.iter(f"{NAMESPACE}path") if "stroke" in path.attrib]
    assert len(circles) == len(bars) == sum(point is not None for line in series for point in line)
    for circle, bar in zip(circles, bars, strict=True):
        low, high = map(float, bar.split(" ")[1].split("V"))
        assert 27.9 <= high <= float(circle.attrib["cy"]) + 0.1
        assert float(circle.attrib["cy"]) - 0.1 <= low <= 265.1


def test_panels_stand_below_each_other() -> None:
    plot = line_plot([1, 2], {"a": [1.0, 2.0]}, across="x", up="y")
    root = ElementTree.fromstring(stacked([plot, plot, plot]))
    panels = [panel.attrib for panel in root.findall(f"{NAMESPACE}svg")]
    assert [float(panel["y"]) for panel in panels] == [0, 320, 640]
    assert float(root.attrib["height"]) == 960
