#include "stats/repeated_key.hpp"

#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

namespace lockstep::stats {
namespace {

/// Ends at the first key that is there twice.
class KeyReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  [[nodiscard]] std::string path() const {
    std::string text;
    for (const Open& object : open_) text += (text.empty() ? "" : ".") + object.last;
    return text;
  }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    open_.emplace_back();
    return true;
  }
  bool key(string_t& name) override {
    open_.back().last = name;
    return open_.back().keys.insert(name).second;
  }
  bool end_object() override {
    open_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

 private:
  struct Open {
    std::unordered_set<std::string> keys;
    std::string last;
  };
  std::vector<Open> open_;
};

}  // namespace

std::optional<std::string> repeated_key(std::string_view text) {
  KeyReader reader;
  if (nlohmann::json::sax_parse(text, &reader)) return std::nullopt;
  return reader.path();
}

}  // namespace lockstep::stats
