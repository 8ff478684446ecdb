#include "report/profile_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "stats/repeated_key.hpp"
#include "stats/text.hpp"
#include "util/error.hpp"

namespace lockstep::report {
namespace {

using ProfileJson = nlohmann::json;

[[noreturn]] void fail(const std::string& file, const std::string& what) {
  throw InputError(file, 0, what + ", expected a profile.json of lockstep");
}

const ProfileJson& need(const std::string& file, const ProfileJson& object, const char* key,
                        ProfileJson::value_t type) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || found == object.end() || found->type() != type)
    fail(file, fmt::format("found no \"{}\" of type {}", key, ProfileJson(type).type_name()));
  return *found;
}

std::uint64_t whole(const std::string& file, const ProfileJson& value) {
  if (!value.is_number_unsigned())
    fail(file, fmt::format("found {} in place of a whole number", value.dump()));
  return value.get<std::uint64_t>();
}

std::string text_if_any(const ProfileJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

stats::ProfiledCode code_of(const std::string& file, const ProfileJson& json) {
  stats::ProfiledCode code;
  code.kernel = need(file, json, "kernel", ProfileJson::value_t::string).get<std::string>();
  for (const ProfileJson& i : need(file, json, "instructions", ProfileJson::value_t::array)) {
    stats::ProfiledInstruction& instruction = code.instructions.emplace_back();
    const std::uint64_t pc = whole(file, need(file, i, "pc", ProfileJson::value_t::number_unsigned));
    if (pc > std::numeric_limits<std::uint32_t>::max()) fail(file, fmt::format("found a pc of {}", pc));
    instruction.pc = static_cast<std::uint32_t>(pc);
    instruction.text = need(file, i, "text", ProfileJson::value_t::string).get<std::string>();
    instruction.ptx = text_if_any(i, "ptx");
    instruction.source_file = text_if_any(i, "file");
    if (const auto line = i.find("line"); line != i.end())
      instruction.source_line = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(whole(file, *line), std::numeric_limits<std::uint32_t>::max()));
  }
  return code;
}

/// The cycles of every reason but `empty`, from column `c` on.
stats::StallCycles stalls_of(const std::string& file, const ProfileJson& json, std::size_t& c) {
  stats::StallCycles stalls{};
  for (unsigned s = 0; s < stats::kStalls; ++s)
    if (s != static_cast<unsigned>(stats::Stall::kEmpty)) stalls[s] = whole(file, json[c++]);
  return stalls;
}

stats::InstructionCounters row_of(const std::string& file, const ProfileJson& json, std::size_t columns) {
  if (!json.is_array() || json.size() != columns)
    fail(file, fmt::format("found a row without {} numbers", columns));
  stats::InstructionCounters row;
  std::size_t c = 0;
  row.threads = whole(file, json[c++]);
  row.stalls = stalls_of(file, json, c);
  row.l1_sectors = whole(file, json[c++]);
  row.l2_sectors = whole(file, json[c++]);
  row.shared_wavefronts = whole(file, json[c++]);
  row.constant_passes = whole(file, json[c++]);
  return row;
}

std::vector<stats::StallCycles> subcores_of(const std::string& file, const ProfileJson& launch) {
  std::vector<stats::StallCycles> subcores;
  const std::size_t columns = stats::subcore_columns().size();
  for (const ProfileJson& row : need(file, launch, "subcores", ProfileJson::value_t::array)) {
    if (!row.is_array() || row.size() != columns)
      fail(file, fmt::format("found a sub-core without {} numbers", columns));
    std::size_t c = 0;
    subcores.push_back(stalls_of(file, row, c));
  }
  return subcores;
}

void check_columns(const std::string& file, const ProfileJson& root, const char* key,
                   const std::vector<stats::ProfileColumn>& expected) {
  const ProfileJson& columns = need(file, root, key, ProfileJson::value_t::array);
  const bool same = std::equal(
      columns.begin(), columns.end(), expected.begin(), expected.end(),
      [](const ProfileJson& a, const stats::ProfileColumn& b) { return a == ProfileJson(b.name); });
  if (!same) fail(file, "found other columns than this program writes");
}

LaunchProfile launch_of(const std::string& file, const ProfileJson& json,
                        const std::vector<stats::ProfiledCode>& codes) {
  LaunchProfile launch;
  launch.kernel = whole(file, need(file, json, "kernel", ProfileJson::value_t::number_unsigned));
  launch.code = whole(file, need(file, json, "code", ProfileJson::value_t::number_unsigned));
  if (launch.code >= codes.size()) fail(file, fmt::format("found code {} of {}", launch.code, codes.size()));
  const ProfileJson& rows = need(file, json, "rows", ProfileJson::value_t::array);
  if (rows.size() != codes[launch.code].instructions.size())
    fail(file, fmt::format("found {} rows for {} instructions", rows.size(),
                           codes[launch.code].instructions.size()));
  const std::size_t columns = stats::profile_columns().size();
  for (const ProfileJson& row : rows) launch.counts.instructions.push_back(row_of(file, row, columns));
  launch.counts.subcores = subcores_of(file, json);
  return launch;
}

}  // namespace

Profile parse_profile(const std::string& text, const std::string& file) {
  const ProfileJson root = ProfileJson::parse(text, nullptr, false);
  if (root.is_discarded()) fail(file, "not valid JSON");
  if (const auto key = stats::repeated_key(text))
    fail(file, fmt::format("found \"{}\" twice", stats::printable(*key)));
  if (const ProfileJson& schema = need(file, root, "schema", ProfileJson::value_t::number_unsigned);
      schema != 1u)
    throw InputError(file, 0, fmt::format("found schema {}, this program reads schema 1", schema.dump()));
  check_columns(file, root, "columns", stats::profile_columns());
  check_columns(file, root, "subcore_columns", stats::subcore_columns());
  Profile profile;
  profile.config_hash = need(file, root, "config_hash", ProfileJson::value_t::string).get<std::string>();
  profile.trace_hash = text_if_any(need(file, root, "trace", ProfileJson::value_t::object), "hash");
  for (const ProfileJson& code : need(file, root, "codes", ProfileJson::value_t::array))
    profile.codes.push_back(code_of(file, code));
  for (const ProfileJson& kernel : need(file, root, "kernels", ProfileJson::value_t::array))
    profile.kernels.push_back(launch_of(file, kernel, profile.codes));
  return profile;
}

}  // namespace lockstep::report
