#include "ptx/parser.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "ptx/declarations.hpp"
#include "ptx/functions.hpp"
#include "ptx/parse_state.hpp"

namespace lockstep::ptx {
namespace {

constexpr unsigned kNewestMajor = 9;

class ModuleParser {
 public:
  ModuleParser(std::string_view text, std::string name) : state_(text, name), lexer_(state_.lexer) {
    state_.module.name = std::move(name);
  }

  Module parse() {
    version();
    target();
    while (lexer_.token().kind != TokenKind::kEnd) directive();
    resolve_pending(state_);
    return std::move(state_.module);
  }

 private:
  void version() {
    if (!lexer_.accept_dotted("version")) lexer_.unexpected(".version as the first directive");
    const Token token = lexer_.expect(TokenKind::kFloat, "a version such as 9.0");
    const std::size_t dot = token.text.find('.');
    const std::string_view major = token.text.substr(0, dot), minor = token.text.substr(dot + 1);
    if (major.size() != 1 || minor.size() != 1 || minor[0] < '0' || minor[0] > '9')
      lexer_.fail(token.place, "expected a version such as 9.0");
    state_.module.major = static_cast<unsigned>(major[0] - '0');
    state_.module.minor = static_cast<unsigned>(minor[0] - '0');
    if (state_.module.major == 0 || state_.module.major > kNewestMajor)
      lexer_.fail(token.place, fmt::format("PTX version {} is not known; expected 1.0 to 9.9", token.text));
  }

  void target() {
    if (!lexer_.accept_dotted("target")) lexer_.unexpected(".target behind .version");
    const Token name = lexer_.expect(TokenKind::kIdentifier, "a target such as sm_75");
    if (!name.text.starts_with("sm_")) lexer_.fail(name.place, "expected a target such as sm_75");
    state_.module.target = name.text;
    while (lexer_.accept(",")) {
      constexpr std::string_view kOptions[] = {"texmode_unified", "texmode_independent", "debug",
                                               "map_f64_to_f32"};
      const Token option = lexer_.expect(TokenKind::kIdentifier, "an option of .target");
      if (std::find(std::begin(kOptions), std::end(kOptions), option.text) == std::end(kOptions))
        lexer_.fail(option.place, "unknown option of .target " + quote(option.text));
      state_.module.options.emplace_back(option.text);
    }
  }

  void directive() {
    if (lexer_.accept(";")) return;
    if (lexer_.token().kind != TokenKind::kDotted) lexer_.unexpected("a directive");
    const Place at = lexer_.token().place;
    const std::optional<Linkage> linkage = parse_linkage();
    const std::string_view word = lexer_.token().kind == TokenKind::kDotted ? lexer_.token().text : "";
    if (word == "entry" || word == "func") {
      if (linkage == Linkage::kCommon) lexer_.fail(at, "a function cannot be .common");
      lexer_.advance();
      parse_function(state_, linkage.value_or(Linkage::kInternal), word == "entry");
    } else if (find_space(word)) {
      variables(linkage.value_or(Linkage::kInternal));
    } else if (linkage) {
      lexer_.unexpected(".entry, .func or a state space");
    } else {
      module_directive(word);
    }
  }

  std::optional<Linkage> parse_linkage() {
    if (lexer_.accept_dotted("visible")) return Linkage::kVisible;
    if (lexer_.accept_dotted("extern")) return Linkage::kExtern;
    if (lexer_.accept_dotted("weak")) return Linkage::kWeak;
    if (lexer_.accept_dotted("common")) return Linkage::kCommon;
    return std::nullopt;
  }

  void module_directive(std::string_view word) {
    if (word == "address_size") {
      lexer_.advance();
      const Place at = lexer_.token().place;
      const std::uint64_t size = lexer_.expect_integer("32 or 64", ~std::uint64_t{0});
      if (size != 32 && size != 64) lexer_.fail(at, "an address has 32 or 64 bits");
      state_.module.address_bits = static_cast<unsigned>(size);
    } else if (word == "file") {
      lexer_.advance();
      parse_file_directive(state_);
    } else if (word == "section") {
      lexer_.advance();
      skip_section(lexer_);
    } else if (word == "pragma") {
      lexer_.advance();
      parse_pragma(lexer_, state_.module.pragmas);
    } else if (word == "alias") {
      lexer_.advance();
      alias();
    } else {
      lexer_.unexpected("a directive of modules (.entry, .func, .global, .file ...)");
    }
  }

  void alias() {
    Alias alias;
    const Token name = lexer_.expect(TokenKind::kIdentifier, "the alias");
    lexer_.expect(",");
    const Token target = lexer_.expect(TokenKind::kIdentifier, "the function that it names");
    lexer_.expect(";");
    alias.place = name.place;
    alias.name = state_.symbol(name.text, name.place);
    alias.target = state_.symbol(target.text, target.place);
    state_.module.aliases.push_back(alias);
  }

  void variables(Linkage linkage) {
    for (NamedVariable& named : parse_variables(state_, linkage)) {
      Variable& v = named.variable;
      if (v.space == Space::kParam) lexer_.fail(v.place, ".param variables belong to functions");
      const Symbol fresh{SymbolKind::kVariable, static_cast<std::uint32_t>(state_.module.variables.size())};
      const auto [at, is_new] = state_.names.try_emplace(named.name, fresh);
      if (is_new) {
        state_.module.variables.push_back(std::move(v));
      } else {
        redeclare(at->second, std::move(v));
      }
    }
  }

  /// A definition may follow an .extern declaration, and the other way round.
  void redeclare(Symbol symbol, Variable v) {
    if (symbol.kind != SymbolKind::kVariable)
      lexer_.fail(v.place, quote(v.name) + " is declared already, as a function");
    Variable& before = state_.module.variables[symbol.id];
    if (before.linkage != Linkage::kExtern && v.linkage != Linkage::kExtern)
      lexer_.fail(v.place,
                  fmt::format("{} is declared already in line {}", quote(v.name), before.place.line));
    if (before.space != v.space || before.type != v.type ||
        (!before.unsized && !v.unsized && before.size != v.size))
      lexer_.fail(v.place,
                  fmt::format("{} is declared differently in line {}", quote(v.name), before.place.line));
    if (before.linkage == Linkage::kExtern) before = std::move(v);
  }

  ParseState state_;
  Lexer& lexer_;
};

}  // namespace

Module parse(std::string_view text, std::string name) { return ModuleParser(text, std::move(name)).parse(); }

Module parse_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  if (!in || !(text << in.rdbuf())) throw InputError(path.string(), 0, "cannot be read as PTX text");
  return parse(text.view(), path.string());
}

}  // namespace lockstep::ptx
