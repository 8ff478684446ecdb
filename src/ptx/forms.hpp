// "ld.global.nc.v4.f32" -> Form.
#pragma once

#include <string_view>
#include <unordered_map>

#include "ptx/lexer.hpp"

namespace lockstep::ptx {

/// Reads mnemonics with their dotted words; each distinct text is decoded once.
class FormReader {
 public:
  /// With the mnemonic in hand; steps past the whole form. An unknown word fails and names the nearest known
  /// one.
  [[nodiscard]] Form read(Lexer& lexer);

 private:
  std::unordered_map<std::string_view, Form> known_;  // by text, which the lexer's text outlives
};

/// Adds one dotted word (without its dot); false when it is unknown. More words than a Form holds fail.
bool add_word(Form& form, std::string_view word, const Lexer& lexer, Place at);

}  // namespace lockstep::ptx
