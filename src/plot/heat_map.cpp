// A value for each pair of two categories, as the depth of a colour.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plot/canvas.hpp"

namespace lockstep::plot {
namespace {

constexpr double kMinOpacity = 0.08;      // of the lowest value: to be told from no value
constexpr double kWhiteTextFrom = 0.6;    // depth from which the cell's text takes the paper's colour
constexpr double kMinCellForText = 34;    // pixels
constexpr double kMaxRowNameShare = 0.3;  // of the width, for the rows' names
constexpr double kKeyWidth = 160, kKeySteps = 32;

struct Depths {
  Range range;
  Scale scale;
  std::size_t left_out = 0;
  [[nodiscard]] bool shown(double v) const { return std::isfinite(v) && (scale == Scale::kLinear || v > 0); }
  [[nodiscard]] double of(double v) const {
    if (!(range.from < range.to)) return 1;
    return std::clamp(share_of(scale, range, v), 0.0, 1.0);
  }
};

Depths depths_of(const HeatMap& map) {
  Depths depths{kEmptyRange, map.scale};
  for (const double v : map.values) {
    if (!depths.shown(v)) {
      depths.left_out += std::isfinite(v) ? 1u : 0u;
      continue;
    }
    depths.range = {std::min(depths.range.from, v), std::max(depths.range.to, v)};
  }
  return depths;
}

double opacity_of(double depth) { return kMinOpacity + (1 - kMinOpacity) * depth; }

/// What the colours mean, under the title.
double draw_key(Canvas& canvas, const HeatMap& map, const Depths& depths, double top) {
  if (!(depths.range.from <= depths.range.to)) return top;
  const std::string low = number(depths.range.from), high = number(depths.range.to);
  const std::string title =
      map.unit.empty() ? map.value_title : fmt::format("{} [{}]", map.value_title, map.unit);
  canvas.text(8, top + 10, title, Anchor::kStart);
  double x = 8 + (title.empty() ? 0 : text_width(title, kFontSize) + 12);
  canvas.text(x, top + 10, low, Anchor::kStart);
  x += text_width(low, kFontSize) + 6;
  for (double i = 0; i < kKeySteps; ++i)
    canvas.rectangle(x + i * kKeyWidth / kKeySteps, top, kKeyWidth / kKeySteps, 12, "f0", {},
                     opacity_of(i / (kKeySteps - 1)));
  canvas.text(x + kKeyWidth + 6, top + 10, high, Anchor::kStart);
  return top + 22;
}

void draw_cells(Canvas& canvas, const HeatMap& map, const Depths& depths, const Box& box) {
  const double width = box.width() / static_cast<double>(map.columns.size());
  const double height = box.height() / static_cast<double>(map.rows.size());
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    for (std::size_t c = 0; c < map.columns.size(); ++c) {
      const std::size_t i = r * map.columns.size() + c;
      if (i >= map.values.size() || !depths.shown(map.values[i])) continue;
      const double depth = depths.of(map.values[i]);
      const double x = box.left + width * static_cast<double>(c),
                   y = box.top + height * static_cast<double>(r);
      canvas.rectangle(x + 0.5, y + 0.5, std::max(0.5, width - 1), std::max(0.5, height - 1), "f0",
                       fmt::format("{}, {}: {}", map.rows[r], map.columns[c], number(map.values[i])),
                       opacity_of(depth));
      if (map.show_values && width >= kMinCellForText && height >= 14)
        canvas.text(x + width / 2, y + height / 2 + 4, number(map.values[i]), Anchor::kMiddle,
                    depth >= kWhiteTextFrom ? "on" : "ink");
    }
  }
}

void draw_names(Canvas& canvas, const HeatMap& map, const Box& box) {
  const double width = box.width() / static_cast<double>(std::max<std::size_t>(1, map.columns.size()));
  const double height = box.height() / static_cast<double>(std::max<std::size_t>(1, map.rows.size()));
  const auto column_stride = static_cast<std::size_t>(std::max(1.0, std::ceil(46 / width)));
  const auto row_stride = static_cast<std::size_t>(std::max(1.0, std::ceil(14 / height)));
  for (std::size_t c = 0; c < map.columns.size(); c += column_stride)
    canvas.text(box.left + width * (static_cast<double>(c) + 0.5), box.bottom + 15,
                fitted(map.columns[c], width * static_cast<double>(column_stride) - 4, kFontSize),
                Anchor::kMiddle);
  for (std::size_t r = 0; r < map.rows.size(); r += row_stride)
    canvas.text(box.left - 6, box.top + height * (static_cast<double>(r) + 0.5) + 4,
                fitted(map.rows[r], kMaxRowNameShare * canvas.size().width, kFontSize), Anchor::kEnd);
  canvas.text((box.left + box.right) / 2, box.bottom + 33, map.x_title, Anchor::kMiddle);
  if (!map.y_title.empty()) canvas.upward_text(16, (box.top + box.bottom) / 2, map.y_title);
}

}  // namespace

std::string svg(const HeatMap& map, Place place) {
  Canvas canvas(map.title, map.size, place);
  const Depths depths = depths_of(map);
  const double top = draw_key(canvas, map, depths, map.title.empty() ? 6 : 30);
  double label_width = 0;
  for (const std::string& name : map.rows) label_width = std::max(label_width, text_width(name, kFontSize));
  label_width = std::min(label_width, kMaxRowNameShare * map.size.width);
  const Box box = plot_box(map.size, top, label_width, !map.x_title.empty(), !map.y_title.empty());
  draw_names(canvas, map, box);
  if (depths.range.from <= depths.range.to && !map.rows.empty() && !map.columns.empty()) {
    draw_cells(canvas, map, depths, box);
  } else {
    draw_no_data(canvas, box);
  }
  draw_left_out(canvas, box, depths.left_out);
  return std::move(canvas).finish();
}

}  // namespace lockstep::plot
