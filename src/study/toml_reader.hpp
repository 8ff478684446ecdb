// TOML as values that remember their lines, and tables that must be read to the last key.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lockstep::study {

class TomlValue;
using TomlArray = std::vector<TomlValue>;
using TomlMap = std::map<std::string, TomlValue>;  // by key: their order in the file has no meaning

/// Dates are kept as text.
class TomlValue {
 public:
  std::variant<bool, std::int64_t, double, std::string, TomlArray, TomlMap> data = false;
  std::uint64_t line = 0;

  [[nodiscard]] bool is_scalar() const { return data.index() < 4; }
  [[nodiscard]] bool is_number() const { return data.index() == 1 || data.index() == 2; }
  /// A scalar as text: "true", "12", "0.5" (the shortest that reads back), or the text itself.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] double number() const;
  /// "a string", "a table", for messages.
  [[nodiscard]] std::string_view kind() const;
};

/// The whole file, at most 1 MiB. Throws UserError / InputError (with the line) for invalid TOML.
[[nodiscard]] TomlValue read_toml(const std::string& file);
[[nodiscard]] TomlValue parse_toml(std::string_view text, const std::string& file);

/// One table while it is read. Every getter throws InputError naming file, line, key and what was expected
/// if the key has another type. `done()` throws for keys that have not been read.
class TableReader {
 public:
  /// `where`: "axis 'core'", for messages; empty: the file's top level.
  TableReader(const TomlValue& table, std::string file, std::string where);

  [[nodiscard]] bool has(const std::string& key) const { return map_->contains(key); }
  [[nodiscard]] std::optional<std::string> text(const std::string& key);
  [[nodiscard]] std::optional<std::int64_t> integer(const std::string& key, std::int64_t low,
                                                    std::int64_t high);
  [[nodiscard]] std::optional<double> number(const std::string& key);
  [[nodiscard]] std::vector<std::string> texts(const std::string& key);
  /// nullptr if the key is not present.
  [[nodiscard]] const TomlValue* value(const std::string& key);
  [[nodiscard]] const TomlValue* array(const std::string& key);
  [[nodiscard]] const TomlValue* table(const std::string& key);
  /// [[key]]; empty if there is none.
  [[nodiscard]] std::span<const TomlValue> tables(const std::string& key);

  void done() const;
  void set_where(std::string where) { where_ = std::move(where); }
  [[nodiscard]] std::uint64_t line() const { return line_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  /// Throws InputError with `line`, or the table's own.
  [[noreturn]] void fail(const std::string& message, std::uint64_t line = 0) const;
  [[noreturn]] void expected(const std::string& key, const TomlValue& found, std::string_view what) const;

 private:
  const TomlMap* map_;
  std::string file_, where_;
  std::uint64_t line_;
  std::vector<std::string> asked_;
};

/// Texts of a list of scalars.
[[nodiscard]] std::vector<std::string> scalar_texts(const TableReader& reader, const std::string& key,
                                                    const TomlValue& list);

}  // namespace lockstep::study
