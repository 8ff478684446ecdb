#include "uvm/transfer.hpp"

namespace lockstep::uvm {

void cut(TreeIndex tree, const PageSet& list, const PageSet& faults, CutRule rule,
         std::vector<Transfer>& transfers) {
  list.for_each_run([&](unsigned first, unsigned count) {
    unsigned begin = first;
    const auto emit = [&](unsigned end, bool faulted) {
      transfers.push_back(
          {{tree, static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(end - begin)}, faulted});
      begin = end;
    };
    for (unsigned p = first; p < first + count; ++p) {
      const bool fault = faults.contains(p), last = p + 1 == first + count;
      const bool cut_here =
          rule == CutRule::kAfterEachFault ? fault : !last && fault != faults.contains(p + 1);
      if (cut_here || last) emit(p + 1, fault);
    }
  });
}

}  // namespace lockstep::uvm
