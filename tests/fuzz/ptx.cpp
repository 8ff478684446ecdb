// Any bytes as PTX: parsed, printed, analysed and linked, or refused with a UserError. What is printed must
// parse again and print the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ptx/control_flow.hpp"
#include "ptx/linker.hpp"
#include "ptx/liveness.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::ptx;
  try {
    Module m = parse({reinterpret_cast<const char*>(data), size}, "fuzz");
    const std::string text = print(m);
    if (print(parse(text, "printed")) != text) std::abort();
    for (const Function& f : m.functions) (void)Liveness(f, ControlFlow(f)).max_pressure();
    std::vector<Module> modules;
    modules.push_back(std::move(m));
    (void)link(std::move(modules));
  } catch (const ParseError& e) {
    if (e.file() == "printed") std::abort();
  } catch (const lockstep::UserError&) {
  }
  return 0;
}
