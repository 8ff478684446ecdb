#include "plot/canvas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep::plot {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Length in bytes of the UTF-8 character at the start of `text`; 0 if there is no valid one.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0x80             ? 1
                             : (byte(0) & 0xe0) == 0xc0 ? 2
                             : (byte(0) & 0xf0) == 0xe0 ? 3
                             : (byte(0) & 0xf8) == 0xf0 ? 4
                                                        : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const unsigned second = length > 1 ? byte(1) : 0;
  const bool overlong = (length == 2 && byte(0) < 0xc2) || (byte(0) == 0xe0 && second < 0xa0) ||
                        (byte(0) == 0xf0 && second < 0x90);
  const bool beyond = byte(0) > 0xf4 || (byte(0) == 0xf4 && second > 0x8f);
  const bool surrogate = byte(0) == 0xed && second > 0x9f;
  const bool no_character = length == 3 && byte(0) == 0xef && second == 0xbf && byte(2) >= 0xbe;
  return overlong || beyond || surrogate || no_character ? 0 : length;
}

std::string_view anchor_name(Anchor anchor) {
  return anchor == Anchor::kStart ? "start" : anchor == Anchor::kMiddle ? "middle" : "end";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char c = text.front();
    if (length == 0 || static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += kReplacement;
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return out;
}

std::string coordinate(double value) {
  std::string text = fmt::format("{:.2f}", std::isfinite(value) ? value : 0.0);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

double text_width(std::string_view text, double font_size) {
  constexpr double kMeanWidth = 0.56;  // of sans-serif fonts' letters and digits, in font sizes; assumed
  const auto characters = std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  return kMeanWidth * font_size * static_cast<double>(characters);
}

std::string fitted(std::string_view text, double width, double font_size) {
  if (text_width(text, font_size) <= width) return std::string(text);
  std::string cut;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length(text));
    if (text_width(cut, font_size) + 2 * font_size > width) break;
    cut += text.substr(0, length);
    text.remove_prefix(length);
  }
  return cut + "\xE2\x80\xA6";
}

// --- Canvas ---

Canvas::Canvas(std::string_view title, Size size, Place place) : size_(size) {
  out_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" "
      "role=\"img\" font-family=\"sans-serif\" font-size=\"{2}\">\n<title>{3}</title>\n",
      size.width, size.height, kFontSize, escaped(title));
  if (place == Place::kFile) {
    out_ += "<style>\n" + style_sheet() + "</style>\n";
    rectangle(0, 0, size.width, size.height, "paper");
  }
  if (!title.empty())
    out_ +=
        fmt::format("<text x=\"{}\" y=\"20\" class=\"ink\" font-size=\"{}\" font-weight=\"bold\">{}</text>\n",
                    8, kTitleSize, escaped(fitted(title, size.width - 16.0, kTitleSize)));
}

void Canvas::element(std::string_view tag, std::string_view hint) {
  if (hint.empty()) {
    out_ += "/>\n";
  } else {
    out_ += fmt::format("><title>{}</title></{}>\n", escaped(hint), tag);
  }
}

void Canvas::text(double x, double y, std::string_view content, Anchor anchor, std::string_view css_class) {
  out_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", coordinate(x),
                      coordinate(y), anchor_name(anchor), css_class, escaped(content));
}

void Canvas::upward_text(double x, double y, std::string_view content) {
  out_ += fmt::format(
      "<text transform=\"translate({} {}) rotate(-90)\" text-anchor=\"middle\" class=\"ink\">{}</text>\n",
      coordinate(x), coordinate(y), escaped(content));
}

void Canvas::line(double x1, double y1, double x2, double y2, std::string_view css_class) {
  out_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n", coordinate(x1),
                      coordinate(y1), coordinate(x2), coordinate(y2), css_class);
}

void Canvas::rectangle(double x, double y, double width, double height, std::string_view css_class,
                       std::string_view hint, double opacity) {
  out_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}\"", coordinate(x),
                      coordinate(y), coordinate(width), coordinate(height), css_class);
  if (opacity < 1) out_ += fmt::format(" fill-opacity=\"{}\"", coordinate(opacity));
  element("rect", hint);
}

void Canvas::circle(double x, double y, double radius, std::string_view css_class, std::string_view hint) {
  out_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{}\"", coordinate(x), coordinate(y),
                      coordinate(radius), css_class);
  element("circle", hint);
}

void Canvas::path(std::string_view data, std::string_view css_class) {
  out_ += fmt::format("<path d=\"{}\" class=\"{}\"/>\n", data, css_class);
}

std::string Canvas::finish() && { return std::move(out_) + "</svg>\n"; }

}  // namespace lockstep::plot
