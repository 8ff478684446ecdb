// One lane of a small part of PTX, written for the tests: what a function leaves in memory, whatever keeps
// its registers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "ptx/ir.hpp"

namespace lockstep::lower::test {

/// Bytes by space (1 shared, 0 all others) and address; what was never written is noise of its address.
class ByteMemory {
 public:
  [[nodiscard]] std::uint64_t load(bool shared, std::uint64_t address, unsigned bytes) const;
  void store(bool shared, std::uint64_t address, unsigned bytes, std::uint64_t value);
  /// What was written.
  [[nodiscard]] const std::map<std::pair<bool, std::uint64_t>, std::uint8_t>& written() const {
    return written_;
  }

 private:
  std::map<std::pair<bool, std::uint64_t>, std::uint8_t> written_;
};

/// Where an interpreter's values are: by default each register of the function has a place of its own.
class RegisterFile {
 public:
  virtual ~RegisterFile() = default;
  [[nodiscard]] virtual std::uint64_t read(ptx::RegisterId id) { return values_[id]; }
  virtual void write(ptx::RegisterId id, std::uint64_t value) { values_[id] = value; }

 private:
  std::map<ptx::RegisterId, std::uint64_t> values_;
};

class Interpreter {
 public:
  Interpreter(const ptx::Function& function, RegisterFile& registers)
      : function_(function), registers_(registers) {}
  virtual ~Interpreter() = default;

  /// From the first instruction to `ret`. Throws std::runtime_error for what it does not know and after too
  /// many steps.
  const ByteMemory& run();

 protected:
  /// The instruction at place `at`, in place of which a test may do something else.
  virtual void execute(std::uint32_t at) { apply(function_.instructions[at]); }
  /// The value of a source operand, and the register that an access names.
  virtual std::uint64_t operand(const ptx::Operand& o);
  virtual std::uint64_t address_register(ptx::RegisterId id) { return registers_.read(id); }
  [[nodiscard]] bool guarded_out(const ptx::Instruction& i);
  void apply(const ptx::Instruction& i);
  /// The result of arithmetic.
  [[nodiscard]] std::uint64_t result(const ptx::Instruction& i);

  const ptx::Function& function_;
  RegisterFile& registers_;

 private:
  void access(const ptx::Instruction& i, bool store);
  void move(const ptx::Instruction& i);
  ByteMemory memory_;
};

}  // namespace lockstep::lower::test
