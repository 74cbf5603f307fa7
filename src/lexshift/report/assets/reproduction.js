// The page of a reproduction: the curves of e_swap against the swap rate. A point is [rate, mean, deviation, is least].
const APART = 4; // pixels between the curves, so that no error bar hides another

chart(document.getElementById("curves"), "The search for the swap rate", (width) => {
  const box = { left: 56, right: width - 14, top: 24, bottom: 256 };
  const points = data.curves.flatMap((curve) => curve.points);
  const most = highest(points.map(([, mean, deviation]) => mean + deviation)) || 1;
  const x = linear(0, highest(points.map(([rate]) => rate)), box.left + 12, box.right - 12);
  const y = linear(0, most, box.bottom, box.top);
  const drawn = data.curves.map((curve, i) => {
    const at = (rate) => x(rate) + (i - 1) * APART;
    const dots = curve.points.flatMap(([rate, mean, deviation, isLeast]) => [
      svg("line", { x1: at(rate), x2: at(rate), y1: y(Math.max(0, mean - deviation)), y2: y(mean + deviation) }),
      svg("circle", { cx: at(rate), cy: y(mean), r: isLeast ? 5 : 2.5, class: isLeast ? "least" : "" },
        svg("title", {}, `${curve.metric}, rate ${rate}: ${digits(mean)} ± ${digits(deviation)}`)),
    ]);
    return svg("g", { class: `curve${i + 1}` }, svg("path", { d: joined(curve.points.map(([rate, mean]) => [at(rate), y(mean)])) }), ...dots);
  });
  const rates = [...new Set(points.map(([rate]) => rate))];
  return svgElement(width, 300, axisY(y, ticks(0, most, 5), box.left, "mean e_swap", box), axisX(x, rates, box.bottom, "swap rate", box), ...drawn);
});
