#include "lower/sequences.hpp"

#include <map>
#include <sstream>
#include <stdexcept>

namespace lockstep::lower {

namespace {

SequenceOperand parse_operand(const std::string& word) {
  using Kind = SequenceOperand::Kind;
  if (word == "-") return {};
  SequenceOperand operand;
  const std::size_t digits = word[0] == 't' ? 2 : 1;
  switch (word[0]) {
    case 'd':
      operand.kind = Kind::kDestination;
      break;
    case 'a':
    case 'b':
    case 'c':
      operand.kind = Kind::kSource;
      operand.number = static_cast<std::uint8_t>(word[0] - 'a');
      break;
    case 't':
      operand.kind = Kind::kTemporary;
      operand.number = static_cast<std::uint8_t>(word.at(1) - '0');
      break;
    default:
      throw std::logic_error("sequence operand " + word);
  }
  operand.high = word.size() > digits && word[digits] == 'h';
  return operand;
}

std::vector<SequenceStep> parse(std::string_view text) {
  std::vector<SequenceStep> steps;
  std::istringstream all{std::string(text)};
  for (std::string step_text; std::getline(all, step_text, ';');) {
    std::istringstream words(step_text);
    SequenceStep step;
    words >> step.opcode;
    std::string word;
    if (step.opcode[0] == '+') {
      step.skipped = static_cast<std::uint32_t>(std::stoul(step.opcode));
      words >> step.opcode;
    }
    if (step.opcode[0] == '?' || step.opcode[0] == ':') {
      step.lanes = step.opcode[0] == '?' ? Lanes::kSlow : Lanes::kUsual;
      step.opcode.erase(0, 1);
    }
    if (words >> word) step.destination = parse_operand(word);
    while (words >> word) step.sources.push_back(parse_operand(word));
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace

const std::vector<SequenceText>& sequence_texts() {
  static const std::vector<SequenceText> texts{
#define SEQUENCE(key, text) {key, text},
#include "lower/sequences.inc"
#undef SEQUENCE
  };
  return texts;
}

const std::vector<SequenceStep>* find_sequence(std::string_view key) {
  static const auto table = [] {
    std::map<std::string, std::vector<SequenceStep>, std::less<>> parsed;
    for (const auto& row : sequence_texts()) parsed.emplace(row.key, parse(row.text));
    return parsed;
  }();
  const auto found = table.find(key);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace lockstep::lower
