#include "ptx/printer.hpp"

#include <fmt/format.h>

#include <iterator>

#include "ptx/pragmas.hpp"
#include "ptx/print_statement.hpp"

namespace lockstep::ptx {
namespace {

using Out = std::back_insert_iterator<std::string>;

std::string_view linkage_word(Linkage linkage) {
  switch (linkage) {
    case Linkage::kVisible:
      return ".visible ";
    case Linkage::kExtern:
      return ".extern ";
    case Linkage::kWeak:
      return ".weak ";
    case Linkage::kCommon:
      return ".common ";
    default:
      return "";
  }
}

/// One module, or a part of it, as text.
class Printer {
 public:
  explicit Printer(const Module& module) : module_(module) {}

  std::string module() {
    fmt::format_to(out(), ".version {}.{}\n.target {}", module_.major, module_.minor, module_.target);
    for (const std::string& option : module_.options) fmt::format_to(out(), ", {}", option);
    fmt::format_to(out(), "\n.address_size {}\n", module_.address_bits);
    for (const std::string& p : module_.pragmas) fmt::format_to(out(), ".pragma \"{}\";\n", p);
    for (std::size_t i = 0; i < module_.files.size(); ++i)
      fmt::format_to(out(), ".file {} \"{}\"\n", i + 1, module_.files[i]);
    for (const Variable& v : module_.variables) variable(v);
    for (const Function& f : module_.functions) function(f);
    for (const Alias& a : module_.aliases)
      fmt::format_to(out(), ".alias {}, {};\n", module_.functions[a.name.id].name,
                     module_.functions[a.target.id].name);
    return std::move(text_);
  }

 private:
  Out out() { return std::back_inserter(text_); }

  void type_words(Type type, unsigned vector, std::uint32_t align) {
    fmt::format_to(out(), ".align {} ", align);
    if (vector != 1) fmt::format_to(out(), ".v{} ", vector);
    fmt::format_to(out(), ".{} ", name(type));
  }

  void variable(const Variable& v) {
    fmt::format_to(out(), "{}.{} ", linkage_word(v.linkage), name(v.space));
    if (v.managed) text_ += ".attribute(.managed) ";
    if (v.unified) text_ += ".attribute(.unified(0, 0)) ";
    type_words(v.type, v.vector, v.align);
    text_ += v.name;
    for (std::size_t i = 0; i < v.dims.size(); ++i) {
      if (i == 0 && v.unsized) {
        text_ += "[]";
      } else {
        fmt::format_to(out(), "[{}]", v.dims[i]);
      }
    }
    if (!v.initial.empty()) initialiser(v);
    text_ += ";\n";
  }

  void initialiser(const Variable& v) {
    text_ += " = ";
    std::vector<std::uint64_t> extents = v.dims;
    if (v.vector > 1) extents.push_back(v.vector);
    std::size_t relocation = 0;
    if (extents.empty()) {
      value(v, 0, relocation);
    } else {
      level(v, extents, 0, 0, relocation);
    }
  }

  void level(const Variable& v, const std::vector<std::uint64_t>& extents, std::size_t dim,
             std::uint64_t first, std::size_t& relocation) {
    std::uint64_t step = 1;
    for (std::size_t i = dim + 1; i < extents.size(); ++i) step *= extents[i];
    const std::uint64_t values = v.initial.size() / bytes(v.type);
    text_ += '{';
    for (std::uint64_t i = 0; i < extents[dim] && first + i * step < values; ++i) {
      if (i) text_ += ", ";
      if (dim + 1 == extents.size()) {
        value(v, first + i, relocation);
      } else {
        level(v, extents, dim + 1, first + i * step, relocation);
      }
    }
    text_ += '}';
  }

  void value(const Variable& v, std::uint64_t index, std::size_t& relocation) {
    const unsigned size = bytes(v.type);
    if (relocation < v.relocations.size() && v.relocations[relocation].offset == index * size)
      return address(v.relocations[relocation++], size);
    std::uint64_t pattern = 0;
    for (unsigned i = 0; i < size; ++i) pattern |= std::uint64_t{v.initial[index * size + i]} << 8 * i;
    const Literal literal = v.type == Type::kF32   ? Literal::kFloat32
                            : v.type == Type::kF64 ? Literal::kFloat64
                            : pattern >> 63        ? Literal::kUnsigned
                                                   : Literal::kSigned;
    text_ += literal_text(literal, pattern);
  }

  void address(const Relocation& r, unsigned element) {
    if (element == 1) fmt::format_to(out(), "{:#x}(", std::uint64_t{0xff} << r.shift);
    const std::string& target = StatementPrinter(module_, nullptr, text_).symbol(r.symbol);
    text_ += r.generic ? "generic(" + target + ")" : target;
    text_ += offset_text(r.addend);
    if (element == 1) text_ += ')';
  }

  void parameter(const Parameter& p) {
    text_ += p.in_register ? ".reg " : ".param ";
    if (p.in_register) {
      fmt::format_to(out(), ".{} {}", name(p.type), p.name);
      return;
    }
    if (p.pointer) {
      text_ += ".ptr ";
      if (p.pointer_space != Space::kGeneric) fmt::format_to(out(), ".{} ", name(p.pointer_space));
      fmt::format_to(out(), ".align {} ", p.pointer_align);
    }
    type_words(p.type, p.vector, p.align);
    text_ += p.name;
    if (p.array) fmt::format_to(out(), "[{}]", p.size / (std::uint64_t{bytes(p.type)} * p.vector));
  }

  void parameters(const std::vector<Parameter>& list) {
    text_ += '(';
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i) text_ += ", ";
      parameter(list[i]);
    }
    text_ += ')';
  }

  void triple(std::string_view word, const std::array<std::uint32_t, 3>& t) {
    if (t[0] || t[1] || t[2]) fmt::format_to(out(), "\n.{} {}, {}, {}", word, t[0], t[1], t[2]);
  }
  void number(std::string_view word, std::uint32_t n) {
    if (n) fmt::format_to(out(), "\n.{} {}", word, n);
  }
  void flag(std::string_view word, bool set) {
    if (set) fmt::format_to(out(), "\n.{}", word);
  }

  void directives(const Directives& d) {
    triple("maxntid", d.maxntid);
    triple("reqntid", d.reqntid);
    triple("reqnctapercluster", d.reqnctapercluster);
    number("minnctapersm", d.minnctapersm);
    number("maxnctapersm", d.maxnctapersm);
    number("maxnreg", d.maxnreg);
    number("maxclusterrank", d.maxclusterrank);
    number("abi_preserve", d.abi_preserve);
    number("abi_preserve_control", d.abi_preserve_control);
    flag("noreturn", d.noreturn);
    flag("explicitcluster", d.explicitcluster);
    flag("blocksareclusters", d.blocksareclusters);
    for (const std::string& p : d.pragmas) fmt::format_to(out(), "\n.pragma \"{}\";", p);
  }

  void function(const Function& f) {
    fmt::format_to(out(), "{}{} ", linkage_word(f.linkage), f.entry ? ".entry" : ".func");
    if (f.unified) text_ += ".attribute(.unified(0, 0)) ";
    if (!f.results.empty()) parameters(f.results);
    fmt::format_to(out(), " {} ", f.name);
    parameters(f.parameters);
    directives(f.directives);
    if (f.has_body) {
      body(f);
    } else {
      text_ += ";\n";
    }
  }

  /// Registers that are no parameters, as many of one type on a line as follow each other.
  void registers(const Function& f) {
    std::size_t i = 0;
    for (const auto* const list : {&f.results, &f.parameters}) {
      for (const Parameter& p : *list) i += p.in_register;
    }
    while (i < f.registers.size()) {
      const Type type = f.registers[i].type;
      fmt::format_to(out(), "  .reg .{} {}", name(type), f.registers[i].name);
      for (++i; i < f.registers.size() && f.registers[i].type == type && i % 16; ++i)
        fmt::format_to(out(), ", {}", f.registers[i].name);
      text_ += ";\n";
    }
  }

  void prototype(const Prototype& p) {
    fmt::format_to(out(), "  {}: .callprototype ", p.name);
    if (!p.results.empty()) parameters(p.results);
    text_ += " _ ";
    parameters(p.parameters);
    if (p.noreturn) text_ += " .noreturn";
    text_ += ";\n";
  }

  template <class List, class Name>
  void names(const List& list, Name name_of) {
    for (std::size_t i = 0; i < list.size(); ++i)
      fmt::format_to(out(), "{}{}", i ? ", " : "", name_of(list[i]));
    text_ += ";\n";
  }

  void body(const Function& f) {
    text_ += "\n{\n";
    registers(f);
    for (const Variable& v : f.variables) {
      text_ += "  ";
      variable(v);
    }
    for (const Prototype& p : f.prototypes) prototype(p);
    for (const CallTable& t : f.call_tables) {
      fmt::format_to(out(), "  {}: .calltargets ", t.name);
      names(t.functions, [this](Symbol s) { return module_.functions[s.id].name; });
    }
    for (const BranchTable& t : f.branch_tables) {
      fmt::format_to(out(), "  {}: .branchtargets ", t.name);
      names(t.labels, [&f](std::uint32_t l) { return f.labels[l].name; });
    }
    statements(f);
    text_ += "}\n";
  }

  /// Callers come first, the outermost before all: columns are not kept, so what a line was before is no
  /// matter.
  void location(const SourceLine& line, const Function& f) {
    if (line.caller == 0) {
      fmt::format_to(out(), "  .loc {} {} 0\n", line.file + 1, line.line);
      return;
    }
    const SourceLine& caller = f.callers[line.caller - 1];
    location(caller, f);
    fmt::format_to(out(), "  .loc {} {} 0, inlined_at {} {} 0\n", line.file + 1, line.line, caller.file + 1,
                   caller.line);
  }

  void statements(const Function& f) {
    StatementPrinter statement(module_, &f, text_);
    std::size_t label = 0;
    SourceLine source;
    for (std::size_t i = 0; i < f.instructions.size(); ++i) {
      for (; label < f.labels.size() && f.labels[label].instruction == i; ++label) {
        const Label& at = f.labels[label];
        if (is_pragma(at))
          fmt::format_to(out(), "  .pragma \"{}\";\n", at.name.substr(kPragma.size()));
        else
          fmt::format_to(out(), "{}:\n", at.name);
      }
      const Instruction& next = f.instructions[i];
      if (!(next.source == source)) location(next.source, f);
      source = next.source;
      text_ += "  ";
      statement.instruction(next);
      text_ += '\n';
    }
  }

  const Module& module_;
  std::string text_;
};

}  // namespace

std::string print(const Module& module) { return Printer(module).module(); }

std::string print(const Instruction& instruction, const Function& function, const Module& module) {
  std::string text;
  StatementPrinter(module, &function, text).instruction(instruction);
  return text;
}

}  // namespace lockstep::ptx
