// A trace without instructions that holds both sides to the contract of CtaFeed.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "../core/fakes.hpp"
#include "gpu/device.hpp"
#include "trace/kernel_trace.hpp"
#include "util/error.hpp"

namespace lockstep::test {

/// What all feeds of a trace saw.
struct FeedLog {
  std::atomic<int> open{0};
  std::atomic<std::uint64_t> taken{0}, released{0};
};

class FakeFeed final : public trace::CtaFeed {
 public:
  FakeFeed(const trace::KernelHeader& header, FeedLog& log, std::uint64_t broken_cta)
      : header_(&header), log_(&log), broken_(broken_cta) {
    ++log_->open;
  }
  ~FakeFeed() override { --log_->open; }
  [[nodiscard]] const trace::KernelHeader& header() const override { return *header_; }
  [[nodiscard]] const trace::StaticTable& instructions() const override { return instructions_; }
  void want(std::uint64_t end) override { wanted_ = std::max(wanted_, end); }
  [[nodiscard]] std::size_t plan() override {
    first_ = decoded_;
    return wanted_ - decoded_;  // no read-ahead: what is not wanted in time is missing
  }
  void run(std::size_t task) noexcept override {
    const std::scoped_lock lock(mutex_);
    run_.insert(first_ + task);
  }
  void settle() override {
    for (std::uint64_t i = decoded_; i < wanted_; ++i)
      if (!run_.count(i)) throw std::logic_error("a planned task was not run");
    decoded_ = wanted_;
    if (broken_ < decoded_) throw InputError("fake.traceg", 12, "found nonsense");
  }
  [[nodiscard]] trace::CtaTrace* take(std::uint64_t index) override {
    const std::scoped_lock lock(mutex_);
    if (index >= decoded_) throw std::logic_error("a CTA arrived before it was decoded");
    if (!out_.try_emplace(index).second) throw std::logic_error("a CTA was taken twice");
    ++log_->taken;
    return &out_[index];
  }
  void release(trace::CtaTrace*) noexcept override { ++log_->released; }
  [[nodiscard]] const trace::TraceNotes& notes() const override { return notes_; }
  trace::TraceNotes notes_;

 private:
  const trace::KernelHeader* header_;
  FeedLog* log_;
  std::uint64_t broken_;
  trace::StaticTable instructions_;
  std::mutex mutex_;
  std::set<std::uint64_t> run_;
  std::map<std::uint64_t, trace::CtaTrace> out_;
  std::uint64_t wanted_ = 0, decoded_ = 0, first_ = 0;
};

class FakeTrace final : public trace::TraceSet {
 public:
  void launch(const trace::KernelHeader& k) {
    commands_.push_back({trace::Command::Kind::kKernel, 0, 0, static_cast<std::uint32_t>(kernels_.size())});
    kernels_.push_back(k);
  }
  void copy(bool to_device, Address address, std::uint64_t bytes) {
    using Kind = trace::Command::Kind;
    commands_.push_back({to_device ? Kind::kCopyToDevice : Kind::kCopyToHost, address, bytes, 0});
  }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::uint64_t content_hash() const override { return 7; }
  [[nodiscard]] const std::vector<trace::Command>& commands() const override { return commands_; }
  [[nodiscard]] const std::vector<trace::KernelHeader>& kernels() const override { return kernels_; }
  [[nodiscard]] std::unique_ptr<trace::CtaFeed> open(std::uint32_t index) const override {
    const auto broken = broken_.find(index);
    auto feed =
        std::make_unique<FakeFeed>(kernels_[index], log, broken == broken_.end() ? kNever : broken->second);
    feed->notes_.unknown_opcodes = {{"FOO", 3}};
    feed->notes_.remarks = {"a remark of " + kernels_[index].name};
    return feed;
  }
  void break_cta(std::uint32_t kernel, std::uint64_t cta) { broken_[kernel] = cta; }
  mutable FeedLog log;

 private:
  std::string name_ = "fake";
  std::vector<trace::Command> commands_;
  std::vector<trace::KernelHeader> kernels_;
  std::map<std::uint32_t, std::uint64_t> broken_;
};

/// Fake SMs and partitions in place of the real ones.
inline gpu::Builder fake_parts(const LifeOf& life, Cycle memory_latency = 20) {
  gpu::Builder builder;
  builder.sm = [=](const gpu::Wiring& w, std::uint32_t i) {
    return gpu::make_part<FakeSm>(w.config, w.fabric, w.kernels, i, life);
  };
  builder.partition = [=](const gpu::Wiring& w, std::uint32_t i) {
    return gpu::make_part<FakePartition>(w.config, w.fabric, i, memory_latency);
  };
  return builder;
}

}  // namespace lockstep::test
