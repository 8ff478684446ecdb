// Kernels that use the network in every way, each with a check of its own: `shmem WHICH` prints what the
// tests expect. nvcc has made shmem.ptx of it: nvcc -std=c++17 -arch=compute_75 -ptx shmem.cu
#include <functional>
#include <map>

#include "../../../examples/shmem/common.hpp"

using shmem::Compare;
using shmem::Context;
using shmem::Handle;
using shmem::SignalOp;
using Word = std::uint64_t;

// ---- The protocol

/// `count` values one after the other into a word of the next PE, then all of them into words of their own.
__global__ void many(Handle handle, int* word, int* words, int count) {
  Context c(handle);
  const int next = (c.my_pe() + 1) % c.n_pes();
  for (int i = 1; i <= count; ++i) c.p(word, i, next);
  for (int i = 0; i < count; ++i) c.p(words + i, 7 * i, next);
  c.destroy();
}

/// Work-group 0 waits for the last one, which first has gets served.
__global__ void beside(Handle handle, Word* flag, int* to, const int* from, int gets) {
  Context c(handle);
  if (blockIdx.x == 0) {
    c.wait_until<Word>(flag, Compare::kEqual, 1);
    c.p(to + gets, 5, c.my_pe());
  } else {
    for (int i = 0; i < gets; ++i) c.get(to + i, from + i, 1, c.my_pe());
    c.p<Word>(flag, 1, c.my_pe());
  }
  c.destroy();
}

/// Data, then a flag by a put of its own; the target says whether it saw the data.
__global__ void order(Handle handle, int* data, const int* from, int* flag, int* wrong, int count,
                      int rounds) {
  Context c(handle);
  for (int round = 1; round <= rounds; ++round) {
    if (c.my_pe() == 0) {
      c.put_nbi(data, from + round, count, 1);
      c.fence();
      c.p(flag, round, 1);
      c.wait_until(flag, Compare::kEqual, round);  // the other one has looked
    } else {
      c.wait_until(flag, Compare::kEqual, round);
      for (int i = threadIdx.x; i < count; i += blockDim.x)
        if (data[i] != from[round + i]) atomicAdd(wrong, 1);
      c.p(flag, round, 0);
    }
  }
  c.destroy();
}

/// Every work-group of every PE draws tickets from PE 0.
__global__ void tickets(Handle handle, unsigned* counter, Word* wide, unsigned* drawn, int draws) {
  Context c(handle);
  for (int i = 0; i < draws; ++i) {
    const unsigned ticket = c.atomic_fetch_add(counter, 1u, 0);
    if (threadIdx.x == 0) drawn[blockIdx.x * draws + i] = ticket;
    c.atomic_add<Word>(wide, 1ull << 32 | 1, 0);
  }
  c.destroy();
}

/// Each atomic operation once, on the next PE; `old` gets what they give.
__global__ void atomics(Handle handle, unsigned* word, unsigned* old) {
  Context c(handle);
  const int next = (c.my_pe() + 1) % c.n_pes();
  unsigned found[9];
  c.atomic_set(word, 12u, next);
  found[0] = c.atomic_fetch_add(word, 5u, next);            // 12, then 17
  found[1] = c.atomic_fetch_inc(word, next);                // 17, then 18
  found[2] = c.atomic_swap(word, 0xf0u, next);              // 18, then f0
  found[3] = c.atomic_compare_swap(word, 1u, 2u, next);     // f0, stays
  found[4] = c.atomic_compare_swap(word, 0xf0u, 3u, next);  // f0, then 3
  found[5] = c.atomic_fetch_or(word, 0x30u, next);          // 3, then 33
  found[6] = c.atomic_fetch_and(word, 0x12u, next);         // 33, then 12
  found[7] = c.atomic_fetch_xor(word, 0xffu, next);         // 12, then ed
  c.atomic_inc(word, next);                                 // ee
  c.atomic_or(word, 1u, next);                              // ef
  c.atomic_and(word, 0x7fu, next);                          // 6f
  c.atomic_xor(word, 0x0fu, next);                          // 60
  c.atomic_add(word, 4u, next);                             // 64
  found[8] = c.atomic_fetch(word, next);
  if (threadIdx.x == 0)
    for (int i = 0; i < 9; ++i) old[i] = found[i];
  c.destroy();
}

/// Values of every size, and puts of few bytes that are not aligned to 4.
__global__ void sizes(Handle handle, std::uint8_t* bytes, std::uint16_t* halves, Word* words,
                      std::uint8_t* back) {
  Context c(handle);
  const int next = (c.my_pe() + 1) % c.n_pes();
  c.p<std::uint8_t>(bytes + 3, 0xab, next);
  c.p<std::uint16_t>(halves + 1, 0xcdef, next);
  c.p<Word>(words, 0x0123456789abcdefull, next);
  back[16 + threadIdx.x] = static_cast<std::uint8_t>(threadIdx.x + 1);
  c.put(bytes + 5, back + 16, 7, next);
  c.put(bytes + 13, back + 16, 19, next);
  c.quiet();
  const std::uint8_t byte = c.g(bytes + 3, next);
  const std::uint16_t half = c.g(halves + 1, next);
  const Word word = c.g(words, next);
  if (threadIdx.x == 0) back[0] = byte == 0xab && half == 0xcdef && word == 0x0123456789abcdefull;
  c.destroy();
}

/// A round per call, in which each PE tells the next one where it is before the barrier.
__global__ void barriers(Handle handle, int* told, int* wrong, int rounds) {
  Context c(handle);
  const int next = (c.my_pe() + 1) % c.n_pes();
  for (int round = 1; round <= rounds; ++round) {
    c.p(told, round, next);
    c.barrier_all();
    if (threadIdx.x == 0 && *static_cast<volatile int*>(told) != round) ++*wrong;
    c.sync_all();
  }
  c.destroy();
}

/// Results one behind the other: broadcast, fcollect, alltoall, reduce, three times with other data.
__global__ void collectives(Handle handle, int* results, int* source, int count) {
  Context c(handle);
  const int pes = c.n_pes();
  for (int time = 0; time < 3; ++time) {
    for (int i = threadIdx.x; i < pes * count; i += blockDim.x)
      source[i] = 1000 * c.my_pe() + 100000 * time + i;
    c.sync_all();
    shmem::broadcast(c, results, source, count, time % pes);
    shmem::fcollect(c, results + count, source, count);
    shmem::alltoall(c, results + (1 + pes) * count, source, count);
    shmem::reduce(c, results + (1 + 2 * pes) * count, source, count, shmem::Sum());
    shmem::reduce(c, source, source, count, shmem::Maximum());
    c.barrier_all();
    results += (1 + 2 * pes + 1) * count;
  }
  c.destroy();
}

/// A poll loop of the kernel's own.
__global__ void testing(Handle handle, int* word, int* rounds) {
  Context c(handle);
  const int other = c.n_pes() - 1 - c.my_pe();
  const bool before = c.test(word, Compare::kNotEqual, 0);
  c.p(word, 3, other);
  while (!c.test(word, Compare::kGreater, 2)) {
  }
  if (threadIdx.x == 0) *rounds = before ? -1 : 1;
  c.destroy();
}

/// Waits for a put that no PE makes, except on PE 0.
__global__ void lost(Handle handle, Word* word) {
  Context c(handle);
  if (c.my_pe() != 0) c.wait_until<Word>(word + c.my_pe(), Compare::kGreater, 41);
  c.destroy();
}

/// Writes `entry` into its queue, whatever it says.
__global__ void hostile(Handle handle, shmem::Entry entry) {
  shmem::Entry& slot = handle.entries[0];
  const std::uint32_t status = entry.status;
  entry.status = 0;
  if (threadIdx.x != 0) return;
  slot = entry;
  __threadfence();
  *static_cast<volatile std::uint32_t*>(&slot.status) = status;
  while (*static_cast<volatile std::uint32_t*>(&slot.status) != 0) {
  }
}

// ---- The host

namespace {

int pes() { return shmem::n_pes(); }
/// Of PE `pe`, on one line.
template <class T>
void print(int pe, const shmem::Symmetric<T>& object, std::size_t count) {
  for (const T value : values_of(object.on(pe), count))
    std::printf("%llu ", static_cast<unsigned long long>(value));
  std::printf("\n");
}
template <class T>
std::vector<T> numbers(std::size_t count, T factor) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(factor * static_cast<T>(i));
  return values;
}

void with(unsigned groups, unsigned entries) {
  shmem::Options options;
  options.work_groups = groups;
  options.queue_entries = entries;
  options.heap_bytes = 1 << 20;
  shmem::init(options);
}

void run_many(unsigned entries) {
  with(1, entries);
  constexpr int kCount = 200;
  const auto word = shmem::malloc<int>(1), words = shmem::malloc<int>(kCount);
  for (int pe = 0; pe < pes(); ++pe)
    shmem::launch({pe, 1, 64}, many, shmem::handle(pe), word.on(pe), words.on(pe), kCount);
  synchronize();
  for (int pe = 0; pe < pes(); ++pe) {
    std::printf("%d ", values_of(words.on(pe), kCount) == numbers<int>(kCount, 7) ? 1 : 0);
    print(pe, word, 1);
  }
}

void run_beside() {
  with(2, 64);
  constexpr int kGets = 100;
  const auto flag = shmem::malloc<Word>(1);
  const auto to = shmem::malloc<int>(kGets + 1), from = shmem::malloc<int>(kGets + 1);
  upload(from.on(0), numbers<int>(kGets + 1, 3));
  shmem::launch({0, 2, 32}, beside, shmem::handle(0), flag.on(0), to.on(0), from.on(0), kGets);
  synchronize();
  auto expected = numbers<int>(kGets + 1, 3);
  expected.back() = 5;
  std::printf("%d\n", values_of(to.on(0), kGets + 1) == expected ? 1 : 0);
}

void run_order() {
  with(1, 64);
  constexpr int kCount = 1000, kRounds = 20;
  const auto data = shmem::malloc<int>(kCount), from = shmem::malloc<int>(kCount + kRounds + 1);
  const auto flag = shmem::malloc<int>(1), wrong = shmem::malloc<int>(1);
  for (int pe = 0; pe < 2; ++pe) upload(from.on(pe), numbers<int>(kCount + kRounds + 1, 11));
  for (int pe = 0; pe < 2; ++pe)
    shmem::launch({pe, 1, 128}, order, shmem::handle(pe), data.on(pe), from.on(pe), flag.on(pe), wrong.on(pe),
                  kCount, kRounds);
  synchronize();
  print(1, wrong, 1);
  print(1, flag, 1);
}

void run_tickets() {
  constexpr int kGroups = 3, kDraws = 40;
  with(kGroups, 8);
  const auto counter = shmem::malloc<unsigned>(1), drawn = shmem::malloc<unsigned>(kGroups * kDraws);
  const auto wide = shmem::malloc<Word>(1);
  for (int pe = 0; pe < pes(); ++pe)
    shmem::launch({pe, kGroups, 32}, tickets, shmem::handle(pe), counter.on(pe), wide.on(pe), drawn.on(pe),
                  kDraws);
  synchronize();
  std::map<unsigned, int> seen;
  for (int pe = 0; pe < pes(); ++pe)
    for (const unsigned ticket : values_of(drawn.on(pe), kGroups * kDraws)) ++seen[ticket];
  const auto all = static_cast<unsigned>(pes() * kGroups * kDraws);
  std::printf("%d ", seen.size() == all && seen.rbegin()->first == all - 1 ? 1 : 0);
  const Word sum = values_of(wide.on(0), 1)[0];
  std::printf("%d\n", sum == (Word{all} << 32 | all) && values_of(counter.on(0), 1)[0] == all ? 1 : 0);
}

void run_atomics() {
  with(1, 64);
  const auto word = shmem::malloc<unsigned>(1), old = shmem::malloc<unsigned>(9);
  for (int pe = 0; pe < pes(); ++pe)
    shmem::launch({pe, 1, 32}, atomics, shmem::handle(pe), word.on(pe), old.on(pe));
  synchronize();
  for (int pe = 0; pe < pes(); ++pe) print(pe, old, 9);
}

void run_sizes() {
  with(1, 64);
  const auto bytes = shmem::malloc<std::uint8_t>(32), back = shmem::malloc<std::uint8_t>(64);
  const auto halves = shmem::malloc<std::uint16_t>(2);
  const auto words = shmem::malloc<Word>(1);
  for (int pe = 0; pe < pes(); ++pe)
    shmem::launch({pe, 1, 32}, sizes, shmem::handle(pe), bytes.on(pe), halves.on(pe), words.on(pe),
                  back.on(pe));
  synchronize();
  for (int pe = 0; pe < pes(); ++pe) {
    print(pe, bytes, 32);
    print(pe, halves, 2);
    print(pe, back, 1);
  }
}

void run_barriers() {
  with(1, 64);
  const auto told = shmem::malloc<int>(1), wrong = shmem::malloc<int>(1);
  for (int pe = 0; pe < pes(); ++pe)
    shmem::launch({pe, 1, 64}, barriers, shmem::handle(pe), told.on(pe), wrong.on(pe), 12);
  synchronize();
  for (int pe = 0; pe < pes(); ++pe) print(pe, wrong, 1);
}

int source_value(int pe, int time, int i) { return 1000 * pe + 100000 * time + i; }

/// How many results of a PE are not what the definition of the calls says.
int wrong_results(int pe, const std::vector<int>& results, int count) {
  int wrong = 0, at = 0;
  const auto check = [&](int value) { wrong += results[static_cast<std::size_t>(at++)] != value ? 1 : 0; };
  for (int time = 0; time < 3; ++time) {
    for (int i = 0; i < count; ++i) check(source_value(time % pes(), time, i));
    for (int of = 0; of < pes(); ++of)
      for (int i = 0; i < count; ++i) check(source_value(of, time, i));
    for (int of = 0; of < pes(); ++of)
      for (int i = 0; i < count; ++i) check(source_value(of, time, pe * count + i));
    for (int i = 0; i < count; ++i) {
      int sum = 0;
      for (int of = 0; of < pes(); ++of) sum += source_value(of, time, i);
      check(sum);
    }
  }
  return wrong;
}

void run_collectives() {
  with(2, 64);
  constexpr int kCount = 150;  // more than reduce() sends at once
  const auto results = shmem::malloc<int>(static_cast<std::size_t>(3 * (2 + 2 * pes()) * kCount));
  const auto source = shmem::malloc<int>(static_cast<std::size_t>(pes() * kCount));
  for (int again = 0; again < 2; ++again) {  // the second kernel goes on with the queue of the first
    for (int pe = 0; pe < pes(); ++pe)
      shmem::launch({pe, 1, 64}, collectives, shmem::handle(pe, 1), results.on(pe), source.on(pe), kCount);
    synchronize();
    for (int pe = 0; pe < pes(); ++pe) {
      const auto found = values_of(results.on(pe), static_cast<std::size_t>(3 * (2 + 2 * pes()) * kCount));
      const auto most = values_of(source.on(pe), kCount);
      int wrong = wrong_results(pe, found, kCount);
      for (int i = 0; i < kCount; ++i)
        wrong += most[static_cast<std::size_t>(i)] != source_value(pes() - 1, 2, i) ? 1 : 0;
      std::printf("%d ", wrong);
    }
    std::printf("\n");
  }
}

void run_testing() {
  with(1, 64);
  const auto word = shmem::malloc<int>(1), rounds = shmem::malloc<int>(1);
  for (int pe = 0; pe < pes(); ++pe)
    shmem::launch({pe, 1, 64}, testing, shmem::handle(pe), word.on(pe), rounds.on(pe));
  synchronize();
  for (int pe = 0; pe < pes(); ++pe) print(pe, word, 1);
}

/// PE 0 has ended before PE 1 begins, which waits for what PE 0 has put, and puts into the memory of a PE
/// that runs no kernel any more.
void run_early() {
  with(1, 64);
  const auto word = shmem::malloc<int>(1), rounds = shmem::malloc<int>(1), words = shmem::malloc<int>(50);
  shmem::launch({0, 1, 64}, many, shmem::handle(0), word.on(0), words.on(0), 50);
  CHECK(cudaDeviceSynchronize());
  shmem::launch({1, 1, 64}, testing, shmem::handle(1), word.on(1), rounds.on(1));
  synchronize();
  print(1, word, 1);
  print(0, word, 1);
}

void run_lost() {
  with(1, 64);
  const auto word = shmem::malloc<Word>(16);
  for (int pe = 0; pe < pes(); ++pe) shmem::launch({pe, 1, 64}, lost, shmem::handle(pe), word.on(pe));
  for (int pe = 0; pe < pes(); ++pe) {
    CHECK(cudaSetDevice(pe));
    std::printf("%d\n", cudaDeviceSynchronize());
  }
}

void run_hostile(const char* what) {
  with(1, 64);
  shmem::Entry entry{};
  entry.status = shmem::Entry::kReady;
  const auto remote = shmem::malloc<Word>(1);
  entry.remote = remote.offset;
  entry.local = reinterpret_cast<Word>(remote.on(0));
  entry.bytes = 8;
  const std::map<std::string, std::function<void()>> changes = {
      {"none", [] {}},
      {"status", [&] { entry.status = 77; }},
      {"operation", [&] { entry.op = 9; }},
      {"flags", [&] { entry.flags = 0x40; }},
      {"pe", [&] { entry.pe = 2; }},
      {"context", [&] { entry.context = 3; }},
      {"remote", [&] { entry.remote = ~Word{0} - 3; }},
      {"end", [&] { entry.bytes = 4 << 20; }},
      {"local", [&] { entry.local = reinterpret_cast<Word>(remote.on(1)); }},
      {"null", [&] { entry.local = 0; }},
      {"inline", [&] { entry.flags = shmem::Entry::kInline, entry.bytes = 9; }},
      {"signal", [&] { entry.flags = shmem::Entry::kSignal, entry.signal = remote.offset + 4; }},
      {"atomic", [&] { entry.op = 2, entry.atomic_op = 7; }},
      {"width", [&] { entry.op = 2, entry.bytes = 2; }},
      {"alignment", [&] { entry.op = 2, entry.remote += 4; }},
  };
  changes.at(what)();
  CHECK(cudaGetLastError());
  shmem::launch({0, 1, 32}, hostile, shmem::handle(0), entry);
  std::printf("%d\n", cudaDeviceSynchronize());
}

/// What the call refuses.
void expect(const std::function<void()>& call) {
  try {
    call();
    std::printf("no error\n");
  } catch (const shmem::Error& error) {
    std::printf("%s\n", error.what());
  }
}

/// What the host's functions refuse.
void run_errors() {
  expect([] { shmem::malloc<int>(1); });
  expect([] { with(0, 64); });
  expect([] { with(1, 48); });
  with(4000, 1);
  expect([] { with(1, 64); });
  expect([] { shmem::malloc<char>(2 << 20); });
  const auto a = shmem::malloc<char>(1 << 19), b = shmem::malloc<char>(1 << 19);
  expect([] { shmem::malloc<char>(1); });
  shmem::free(b);
  shmem::free(a);
  expect([&] { shmem::free(a); });
  const auto all = shmem::malloc<int>(1 << 18);
  expect([&] { shmem::launch({0, 4001, 32}, testing, shmem::handle(0), all.on(0), all.on(0)); });
  expect([&] { shmem::launch({0, 4000, 1024}, testing, shmem::handle(0), all.on(0), all.on(0)); });
  shmem::finalize();
  with(2, 4);  // a second time
  shmem::finalize();
  expect([] { shmem::finalize(); });
}

/// As many work-groups as there are queues, and one more, without launch()'s check.
void run_crowd() {
  with(2, 64);
  const auto word = shmem::malloc<int>(1), rounds = shmem::malloc<int>(1);
  int* const a = word.on(0);
  int* const b = rounds.on(0);
  int count = 7;
  Handle handle = shmem::handle(0);
  void* arguments[] = {&handle, const_cast<int**>(&a), const_cast<int**>(&b), &count};
  CHECK(cudaSetDevice(0));
  std::printf("%d\n", cudaLaunchKernel(reinterpret_cast<const void*>(many), dim3(3), dim3(32), arguments, 0,
                                       nullptr));
}

/// What PE 1 receives has not been sent when it is asked for; then sums by all processes.
void run_processes() {
  with(1, 64);
  const auto out = shmem::malloc<int>(1), in = shmem::malloc<int>(2);
  const shmem::HostProcess sender(0), receiver(1);
  receiver.receive(0);
  receiver.compute(0, 0, [=] { in.on(1)[1] = in.on(1)[0] + 1; });
  sender.compute(0, 0, [=] { out.on(0)[0] = 41; });
  sender.send(in.on(0), out.on(0), 1, 1);
  sender.flush();
  synchronize();
  std::printf("%d\n", values_of(in.on(1), 2)[1]);
  for (const int count : {1, 5, 512, 513, 3000}) {
    const auto data = shmem::malloc<int>(count), inbox = shmem::malloc<int>(shmem::reduce_inbox<int>(count));
    for (int pe = 0; pe < pes(); ++pe) upload(data.on(pe), numbers<int>(count, pe * 1000 + 1));
    shmem::all_reduce(shmem::host_processes(), data, inbox, count, [](int a, int b) { return a + b; });
    synchronize();
    const std::vector<int> sums = numbers<int>(count, 500 * pes() * (pes() - 1) + pes());
    bool right = true;
    for (int pe = 0; pe < pes(); ++pe) right &= values_of(data.on(pe), count) == sums;
    std::printf("%d ", right ? 1 : 0);
    shmem::free(inbox);
    shmem::free(data);
  }
  std::printf("\n");
}

void run_unsent() {
  with(1, 64);
  shmem::HostProcess(1).receive(0);
  CHECK(cudaSetDevice(1));
  std::printf("%d\n", cudaDeviceSynchronize());
}

void run_process_errors() {
  expect([] { shmem::HostProcess(0).flush(); });
  with(1, 64);
  const auto a = shmem::malloc<char>(64);
  const shmem::HostProcess process(0);
  expect([&] { process.receive(2); });
  expect([&] { process.send(a.on(0), a.on(0), 2 << 20, 1); });
  expect([&] { process.send(a.on(0), a.on(1), 64, 1); });
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void()>> cases = {
      {"many", [] { run_many(64); }},
      {"full", [] { run_many(4); }},
      {"one_entry", [] { run_many(1); }},
      {"beside", run_beside},
      {"order", run_order},
      {"tickets", run_tickets},
      {"atomics", run_atomics},
      {"sizes", run_sizes},
      {"barriers", run_barriers},
      {"collectives", run_collectives},
      {"testing", run_testing},
      {"early", run_early},
      {"lost", run_lost},
      {"errors", run_errors},
      {"crowd", run_crowd},
      {"processes", run_processes},
      {"unsent", run_unsent},
      {"process_errors", run_process_errors},
      {"hostile", [&] { run_hostile(argc > 2 ? argv[2] : "none"); }},
  };
  try {
    cases.at(argc > 1 ? argv[1] : "")();
    return 0;
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
