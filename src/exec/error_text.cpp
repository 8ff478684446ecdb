#include "exec/error_text.hpp"

#include <algorithm>
#include <iterator>

namespace lockstep::exec {

namespace {

struct Entry {
  int number;
  const char *name, *text;
};
constexpr Entry kEntries[] = {
#define X(number, name, text) {number, "cuda" #name, text},
#include "exec/error_table.inc"
#undef X
};
constexpr Entry kUnknown{-1, "unrecognized error code", "unrecognized error code"};

const Entry& find(int number) {
  const auto* const found = std::ranges::lower_bound(kEntries, number, {}, &Entry::number);
  return found != std::end(kEntries) && found->number == number ? *found : kUnknown;
}

}  // namespace

const char* error_name(int number) { return find(number).name; }
const char* error_text(int number) { return find(number).text; }

}  // namespace lockstep::exec
