// What a cufftHandle stands for.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

#include "libraries/common/driver.hpp"
#include "libraries/fft/abi.hpp"
#include "libraries/fft/schedule.hpp"

namespace lockstep::libraries::fft {

/// An error that has a status of cuFFT's own.
struct Refused {
  Status status;
};

/// What a plan is asked for; a null embed is the default layout.
struct Request {
  int rank = 1;
  long long n[3] = {1, 1, 1};
  bool default_layout = true;
  long long in_embed[3] = {}, in_stride = 1, in_distance = 1;
  long long out_embed[3] = {}, out_stride = 1, out_distance = 1;
  int type = kC2C;
  long long batch = 1;
};

/// Throws Refused where the request makes no sense. `in_place`: as it is when result and input are the same
/// memory.
[[nodiscard]] Problem problem_of(const Request& request, bool in_place);

/// Both ways of doing what was asked for.
struct Schedules {
  explicit Schedules(const Request& request);
  [[nodiscard]] std::size_t work_bytes() const;

  int type;
  bool twice;
  Schedule apart, in_place;
};

class Plan {
 public:
  Plan() = default;
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  void make(const Request& request);
  /// `type`: what the called function is for. Result and input may be the same memory.
  void execute(int type, const void* in, void* out, int direction);

  void set_stream(Stream stream);
  void set_work_area(void* area);
  void set_auto_allocation(bool automatic);
  /// Of the plan that was made; 0 before.
  [[nodiscard]] std::size_t work_bytes() const;

 private:
  void release();
  void add_tables(const Schedule& schedule);
  void add_table(const Table& table);
  [[nodiscard]] const void* table(const Table& which) const;
  void launch(const Step& step, void* const* places, bool inverse) const;

  mutable std::mutex mutex_;
  std::optional<Schedules> schedules_;
  std::map<Table, void*> tables_;
  Stream stream_ = nullptr;
  void* own_work_ = nullptr;
  void* given_work_ = nullptr;
  bool automatic_ = true;
  int device_ = 0;
};

}  // namespace lockstep::libraries::fft
