// Names that were used before their declaration.
#include "ptx/parse_state.hpp"

namespace lockstep::ptx {
namespace {

class Resolver {
 public:
  explicit Resolver(ParseState& state) : state_(state) {
    for (const PendingName& name : state.pending) {
      const auto found = state.names.find(name.name);
      if (found == state.names.end())
        state.lexer.fail(name.at, "unknown name " + quote(name.name) +
                                      "; expected a register, a variable, a function or a parameter");
      symbols_.push_back(found->second);
    }
  }

  void all() {
    if (!symbols_.empty()) {
      for (Variable& v : state_.module.variables) variable(v);
      for (Function& f : state_.module.functions) function(f);
      for (Alias& a : state_.module.aliases) {
        symbol(a.name);
        symbol(a.target);
      }
    }
    for (const Function& f : state_.module.functions) check_functions(f);
    for (const Alias& a : state_.module.aliases) check_alias(a);
  }

 private:
  void symbol(Symbol& s) {
    if (s.kind == SymbolKind::kVariable && s.id >= kPending) s = symbols_[s.id - kPending];
  }
  void operand(Operand& o) {
    symbol(o.symbol);
    for (Operand& element : o.elements) operand(element);
  }
  void variable(Variable& v) {
    for (Relocation& r : v.relocations) symbol(r.symbol);
  }
  void function(Function& f) {
    for (Instruction& i : f.instructions) {
      for (Operand& o : i.operands) operand(o);
    }
    for (CallTable& t : f.call_tables) {
      for (Symbol& s : t.functions) symbol(s);
    }
  }

  void check_functions(const Function& f) const {
    for (const Instruction& i : f.instructions) {
      if (i.op() == Opcode::kCall && i.operands[0].kind == OperandKind::kSymbol &&
          i.operands[0].symbol.kind != SymbolKind::kFunction)
        state_.lexer.fail(i.place, "a call's target is a function or a register");
    }
    for (const CallTable& t : f.call_tables) {
      for (const Symbol s : t.functions) {
        if (s.kind != SymbolKind::kFunction)
          state_.lexer.fail(f.place,
                            "the list " + quote(t.name) + " of this function names what is no function");
      }
    }
  }
  void check_alias(const Alias& a) const {
    if (a.name.kind != SymbolKind::kFunction || a.target.kind != SymbolKind::kFunction)
      state_.lexer.fail(a.place, ".alias takes two functions");
    const Function& name = state_.module.functions[a.name.id];
    if (name.has_body) state_.lexer.fail(a.place, quote(name.name) + " has a body and cannot be an alias");
  }

  ParseState& state_;
  std::vector<Symbol> symbols_;  // of the pending names
};

}  // namespace

void resolve_pending(ParseState& state) { Resolver(state).all(); }

}  // namespace lockstep::ptx
