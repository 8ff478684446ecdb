#include "ptx/functions.hpp"

#include <fmt/format.h>

#include "ptx/body.hpp"
#include "ptx/declarations.hpp"
#include "ptx/scopes.hpp"

namespace lockstep::ptx {
namespace {

constexpr std::uint64_t kMaxThreads = 0xffffffff;

/// "256", "16, 16", "8, 8, 4": what is left out is 1.
std::array<std::uint32_t, 3> parse_triple(Lexer& lexer) {
  std::array<std::uint32_t, 3> triple{1, 1, 1};
  std::size_t i = 0;
  do {
    if (i == 3) lexer.fail("expected at most three extents");
    triple[i++] = static_cast<std::uint32_t>(lexer.expect_integer("an extent", kMaxThreads));
  } while (lexer.accept(","));
  return triple;
}

struct NumberDirective {
  std::string_view word;
  std::uint32_t Directives::*value;
};
constexpr NumberDirective kNumbers[] = {
    {"minnctapersm", &Directives::minnctapersm}, {"maxnctapersm", &Directives::maxnctapersm},
    {"maxnreg", &Directives::maxnreg},           {"maxclusterrank", &Directives::maxclusterrank},
    {"abi_preserve", &Directives::abi_preserve}, {"abi_preserve_control", &Directives::abi_preserve_control}};

struct TripleDirective {
  std::string_view word;
  std::array<std::uint32_t, 3> Directives::*value;
};
constexpr TripleDirective kTriples[] = {{"maxntid", &Directives::maxntid},
                                        {"reqntid", &Directives::reqntid},
                                        {"reqnctapercluster", &Directives::reqnctapercluster}};

struct FlagDirective {
  std::string_view word;
  bool Directives::*value;
};
constexpr FlagDirective kFlags[] = {{"noreturn", &Directives::noreturn},
                                    {"explicitcluster", &Directives::explicitcluster},
                                    {"blocksareclusters", &Directives::blocksareclusters}};

/// One directive between a function's parts; false when the current word is not one.
bool parse_directive(Lexer& lexer, Function& f) {
  for (const NumberDirective& d : kNumbers) {
    if (!lexer.accept_dotted(d.word)) continue;
    f.directives.*d.value = static_cast<std::uint32_t>(lexer.expect_integer("a number", kMaxThreads));
    return true;
  }
  for (const TripleDirective& d : kTriples) {
    if (!lexer.accept_dotted(d.word)) continue;
    f.directives.*d.value = parse_triple(lexer);
    return true;
  }
  for (const FlagDirective& d : kFlags) {
    if (!lexer.accept_dotted(d.word)) continue;
    f.directives.*d.value = true;
    return true;
  }
  if (lexer.accept_dotted("attribute")) {
    f.unified |= parse_attributes(lexer).unified;
  } else if (lexer.accept_dotted("pragma")) {
    parse_pragma(lexer, f.directives.pragmas);
  } else {
    return false;
  }
  return true;
}

void parse_directives(Lexer& lexer, Function& f) {
  while (lexer.token().kind == TokenKind::kDotted) {
    if (!parse_directive(lexer, f)) lexer.unexpected("a directive of functions (.maxntid ...), '{' or ';'");
  }
}

void add_parameters(ParseState& state, std::vector<Parameter>& list, SymbolKind kind, Function& f,
                    FunctionNames& names) {
  for (NamedParameter& named : parse_parameters(state)) {
    Parameter& p = named.parameter;
    const Place at = state.lexer.token().place;
    bool is_new = true;
    if (p.in_register) {
      if (p.array || p.vector != 1) state.lexer.fail(at, "a parameter in a register is one value");
      is_new = names.declare_register(named.name, p.type, 1);
      p.reg = names.find(named.name)->id;
    } else if (named.name != "_") {
      Binding binding;
      binding.kind = Binding::Kind::kSymbol;
      binding.symbol = kind;
      binding.id = static_cast<std::uint32_t>(list.size());
      is_new = names.declare(named.name, binding);
    }
    if (!is_new) state.lexer.fail(at, "parameter " + quote(named.name) + " is declared twice");
    if (p.in_register && f.entry) state.lexer.fail(at, "a kernel's parameters are .param");
    list.push_back(std::move(p));
  }
}

bool same_parameters(const std::vector<Parameter>& a, const std::vector<Parameter>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Parameter& p, const Parameter& q) {
    return p.size == q.size && p.in_register == q.in_register && p.offset == q.offset;
  });
}

/// The function's id: a new one, or that of an earlier declaration, which must agree.
std::uint32_t declare_function(ParseState& state, const Function& f, const Token& name) {
  auto& functions = state.module.functions;
  const Symbol fresh{SymbolKind::kFunction, static_cast<std::uint32_t>(functions.size())};
  const auto [at, is_new] = state.names.try_emplace(name.text, fresh);
  if (is_new) {
    functions.push_back(f);
    return fresh.id;
  }
  if (at->second.kind != SymbolKind::kFunction)
    state.lexer.fail(name.place, quote(name.text) + " is declared already, as a variable");
  const Function& before = functions[at->second.id];
  if (before.entry != f.entry || !same_parameters(before.parameters, f.parameters) ||
      !same_parameters(before.results, f.results))
    state.lexer.fail(name.place, fmt::format("{} is declared differently in line {}", quote(name.text),
                                             before.place.line));
  return at->second.id;
}

void parse_body(ParseState& state, Function& f, FunctionNames& names, const Token& name, std::uint32_t id) {
  if (state.module.functions[id].has_body)
    state.lexer.fail(name.place, fmt::format("{} is defined already in line {}", quote(name.text),
                                             state.module.functions[id].place.line));
  BodyParser(state, f, names).parse();
  f.has_body = true;
  make_names_unique(f, state.names);
}

}  // namespace

void parse_function(ParseState& state, Linkage linkage, bool entry) {
  Lexer& lexer = state.lexer;
  Function f;
  FunctionNames names(f);
  f.linkage = linkage;
  f.entry = entry;
  parse_directives(lexer, f);
  if (!entry && lexer.token().is("(")) add_parameters(state, f.results, SymbolKind::kResult, f, names);
  parse_directives(lexer, f);
  const Token name = lexer.expect(TokenKind::kIdentifier, "a function's name");
  f.name = name.text;
  f.place = name.place;
  if (lexer.token().is("(")) add_parameters(state, f.parameters, SymbolKind::kParameter, f, names);
  parse_directives(lexer, f);
  const std::uint32_t id = declare_function(state, f, name);
  if (lexer.accept(";")) return;
  if (!lexer.token().is("{")) lexer.unexpected("'{' or ';'");
  if (linkage == Linkage::kExtern) lexer.fail(name.place, "an .extern function has no body");
  parse_body(state, f, names, name, id);
  state.module.functions[id] = std::move(f);
}

void parse_file_directive(ParseState& state) {
  Lexer& lexer = state.lexer;
  const std::uint32_t file = state.file(lexer.expect_integer("a file's number", 0xffffffff));
  state.module.files[file] = lexer.expect(TokenKind::kString, "a file's name in quotes").text;
  if (!lexer.accept(",")) return;
  lexer.expect(TokenKind::kInteger, "a time");
  lexer.expect(",");
  lexer.expect(TokenKind::kInteger, "a size");
}

void parse_pragma(Lexer& lexer, std::vector<std::string>& pragmas) {
  do {
    pragmas.emplace_back(lexer.expect(TokenKind::kString, "a pragma in quotes").text);
  } while (lexer.accept(","));
  lexer.expect(";");
}

void skip_section(Lexer& lexer) {
  lexer.expect(TokenKind::kDotted, "a section's name");
  const Place begin = lexer.token().place;
  lexer.expect("{");
  while (!lexer.token().is("}")) {
    if (lexer.token().kind == TokenKind::kEnd) lexer.fail(begin, "this section does not end");
    lexer.advance();
  }
  lexer.advance();
}

}  // namespace lockstep::ptx
