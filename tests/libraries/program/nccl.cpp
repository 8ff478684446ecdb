// NCCL's operations between all GPUs on random data, compared with what the host computes. Arguments: a seed,
// the number of rounds, and `threads` for a host thread for each GPU.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "api.hpp"
#include "nccl_api.hpp"

namespace {

int failures = 0;
std::mutex failure_mutex;

void expect(bool fact, const std::string& what) {
  if (fact) return;
  const std::lock_guard lock(failure_mutex);
  std::printf("FAIL: %s\n", what.c_str());
  ++failures;
}

using Bytes = std::vector<unsigned char>;

struct Rank {
  ncclComm_t communicator = nullptr;
  cudaStream_t streams[2] = {};
  unsigned char *send = nullptr, *receive = nullptr;
  cudaStream_t stream = nullptr;  // of the operation
};

enum class Kind { kAllReduce, kReduce, kReduceScatter, kBroadcast, kAllGather, kMessages, kKinds };

struct Operation {
  Kind kind;
  ncclDataType_t type;
  ncclRedOp_t operation;
  int root;
  std::size_t count;
  bool in_place;
  std::size_t shift;  // elements by which memory is not aligned
};

constexpr std::size_t kSizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};

float from_bfloat16(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

float from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const float value = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                                    : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return (bits & 0x8000) != 0 ? -value : value;
}

template <class T>
T read(const unsigned char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double value_of(ncclDataType_t type, const unsigned char* at) {
  switch (type) {
    case ncclFloat16:
      return from_half(read<std::uint16_t>(at));
    case ncclFloat32:
      return read<float>(at);
    case ncclFloat64:
      return read<double>(at);
    default:
      return from_bfloat16(read<std::uint16_t>(at));
  }
}

/// Numbers near 1, so that a product stays in range.
Bytes random_data(ncclDataType_t type, std::size_t count, Random& random) {
  Bytes data(count * kSizes[type]);
  for (unsigned char& byte : data) byte = static_cast<unsigned char>(random.next());
  for (std::size_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(1 + 0.25 * random.unit());
    unsigned char* const at = data.data() + i * kSizes[type];
    if (type == ncclFloat32) std::memcpy(at, &value, 4);
    if (type == ncclFloat64) {
      const double wide = value;
      std::memcpy(at, &wide, 8);
    }
    const auto narrow = static_cast<std::uint16_t>(0x3c00 + random.below(256));
    const auto bfloat = static_cast<std::uint16_t>(0x3f80 + random.below(32));
    if (type == ncclFloat16) std::memcpy(at, &narrow, 2);
    if (type == ncclBfloat16) std::memcpy(at, &bfloat, 2);
  }
  return data;
}

template <class T>
T combined(T a, T b, ncclRedOp_t operation) {
  switch (operation) {
    case ncclProd:
      return static_cast<T>(a * b);
    case ncclMax:
      return std::max(a, b);
    case ncclMin:
      return std::min(a, b);
    default:
      return static_cast<T>(a + b);
  }
}

/// Whole numbers wrap around: sums are of their unsigned form, averages of the signed one.
template <class T>
bool right_integer(const std::vector<Bytes>& data, const Operation& op, std::size_t i,
                   const unsigned char* got) {
  using Unsigned = std::make_unsigned_t<T>;
  T value = read<T>(data[0].data() + i * sizeof(T));
  for (std::size_t rank = 1; rank < data.size(); ++rank) {
    const T other = read<T>(data[rank].data() + i * sizeof(T));
    if (op.operation == ncclMax || op.operation == ncclMin) {
      value = combined(value, other, op.operation);
    } else {
      value =
          static_cast<T>(combined(static_cast<std::uint64_t>(static_cast<Unsigned>(value)),
                                  static_cast<std::uint64_t>(static_cast<Unsigned>(other)), op.operation));
    }
  }
  if (op.operation == ncclAvg) value = static_cast<T>(value / static_cast<T>(data.size()));
  return read<T>(got) == value;
}

bool right_element(const std::vector<Bytes>& data, const Operation& op, std::size_t i,
                   const unsigned char* got) {
  switch (op.type) {
    case ncclInt8:
      return right_integer<std::int8_t>(data, op, i, got);
    case ncclUint8:
      return right_integer<std::uint8_t>(data, op, i, got);
    case ncclInt32:
      return right_integer<std::int32_t>(data, op, i, got);
    case ncclUint32:
      return right_integer<std::uint32_t>(data, op, i, got);
    case ncclInt64:
      return right_integer<std::int64_t>(data, op, i, got);
    case ncclUint64:
      return right_integer<std::uint64_t>(data, op, i, got);
    default:
      break;
  }
  double value = value_of(op.type, data[0].data() + i * kSizes[op.type]);
  for (std::size_t rank = 1; rank < data.size(); ++rank)
    value = combined(value, value_of(op.type, data[rank].data() + i * kSizes[op.type]), op.operation);
  if (op.operation == ncclAvg) value /= static_cast<double>(data.size());
  const double precision = op.type == ncclFloat64   ? 1e-14
                           : op.type == ncclFloat32 ? 1e-5
                           : op.type == ncclFloat16 ? 1e-3
                                                    : 5e-3;
  return std::abs(value_of(op.type, got) - value) <= precision * std::abs(value);
}

void launch(const Operation& op, int self, int ranks, const Rank& rank) {
  const std::size_t bytes = op.count * kSizes[op.type];
  unsigned char *send = rank.send + op.shift * kSizes[op.type],
                *receive = rank.receive + op.shift * kSizes[op.type];
  const auto own = static_cast<std::size_t>(self) * bytes;
  const auto success = [](ncclResult_t result) { expect(result == ncclSuccess, "an operation is accepted"); };
  switch (op.kind) {
    case Kind::kAllReduce:
      return success(ncclAllReduce(op.in_place ? receive : send, receive, op.count, op.type, op.operation,
                                   rank.communicator, rank.stream));
    case Kind::kReduce:
      return success(ncclReduce(op.in_place ? receive : send, receive, op.count, op.type, op.operation,
                                op.root, rank.communicator, rank.stream));
    case Kind::kReduceScatter:
      return success(ncclReduceScatter(op.in_place ? receive : send, op.in_place ? receive + own : receive,
                                       op.count, op.type, op.operation, rank.communicator, rank.stream));
    case Kind::kBroadcast:
      return success(ncclBroadcast(op.in_place ? receive : send, receive, op.count, op.type, op.root,
                                   rank.communicator, rank.stream));
    case Kind::kAllGather:
      return success(ncclAllGather(op.in_place ? receive + own : send, receive, op.count, op.type,
                                   rank.communicator, rank.stream));
    default:
      break;
  }
  // From each to each, in two messages.
  ncclGroupStart();
  for (int peer = 0; peer < ranks; ++peer)
    for (std::size_t half = 0; half < 2; ++half) {
      const std::size_t first = half * (op.count / 3),
                        count = half == 0 ? op.count / 3 : op.count - op.count / 3;
      const std::size_t at = static_cast<std::size_t>(peer) * bytes + first * kSizes[op.type];
      success(ncclSend(send + at, count, op.type, peer, rank.communicator, rank.stream));
      success(ncclRecv(receive + at, count, op.type, peer, rank.communicator, rank.stream));
    }
  success(ncclGroupEnd());
}

/// What rank `self` has after the operation, given what all had before.
bool right(const Operation& op, std::size_t self, const std::vector<Bytes>& sent, const Bytes& before,
           const Bytes& got) {
  const std::size_t size = kSizes[op.type], bytes = op.count * size, ranks = sent.size();
  Bytes wanted = before;
  const bool receives = op.kind != Kind::kReduce || self == static_cast<std::size_t>(op.root);
  for (std::size_t piece = 0; piece < ranks; ++piece) {
    const auto put = [&](std::size_t to, std::size_t from_rank, std::size_t from) {
      std::copy_n(sent[from_rank].begin() + static_cast<long>(from * bytes), bytes,
                  wanted.begin() + static_cast<long>(to * bytes));
    };
    if (op.kind == Kind::kAllGather) put(piece, piece, op.in_place ? piece : 0);
    if (op.kind == Kind::kMessages) put(piece, piece, self);
    if (op.kind == Kind::kBroadcast && piece == 0) put(0, static_cast<std::size_t>(op.root), 0);
  }
  const bool reduces = op.kind <= Kind::kReduceScatter && receives;
  const std::size_t first = op.kind == Kind::kReduceScatter ? self * op.count : 0;
  const std::size_t place = op.kind == Kind::kReduceScatter && op.in_place ? self * bytes : 0;
  for (std::size_t i = 0; reduces && i < op.count; ++i) {
    const unsigned char* const at = got.data() + place + i * size;
    if (!right_element(sent, op, first + i, at)) return false;
    std::copy_n(at, size, wanted.begin() + static_cast<long>(place + i * size));
  }
  return wanted == got;
}

Operation random_operation(int ranks, Random& random) {
  Operation op{};
  op.kind = static_cast<Kind>(random.below(static_cast<int>(Kind::kKinds)));
  op.type = static_cast<ncclDataType_t>(random.below(10));
  op.operation = static_cast<ncclRedOp_t>(random.below(5));
  op.root = random.below(ranks);
  const int limits[] = {1, 40, 3000, 20000};
  op.count = static_cast<std::size_t>(random.below(limits[random.below(4)] + 1));
  op.in_place = op.kind != Kind::kMessages && random.below(2) == 0;
  op.shift = random.below(2) == 0 ? 0 : 1;
  return op;
}

std::string text_of(const Operation& op) {
  return "operation " + std::to_string(static_cast<int>(op.kind)) + " of type " + std::to_string(op.type) +
         " by " + std::to_string(op.operation) + ", " + std::to_string(op.count) + " elements" +
         (op.in_place ? " in place" : "");
}

void on_all(std::vector<Rank>& ranks, bool threads, const std::function<void(int)>& body) {
  const auto on_one = [&](int rank) {
    cudaSetDevice(rank);
    body(rank);
  };
  if (!threads) {
    ncclGroupStart();
    for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) on_one(rank);
    expect(ncclGroupEnd() == ncclSuccess, "ncclGroupEnd");
    return;
  }
  std::vector<std::thread> all;
  for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) all.emplace_back(on_one, rank);
  for (std::thread& thread : all) thread.join();
}

void check_operation(std::vector<Rank>& ranks, bool threads, Random& random) {
  const Operation op = random_operation(static_cast<int>(ranks.size()), random);
  const std::size_t room = op.count * ranks.size(), bytes = (room + op.shift) * kSizes[op.type];
  std::vector<Bytes> sent, before;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    sent.push_back(random_data(op.type, room, random));
    before.push_back(op.in_place ? sent.back() : random_data(op.type, room, random));
    cudaSetDevice(static_cast<int>(rank));
    cudaMalloc(reinterpret_cast<void**>(&ranks[rank].send), bytes + 1);
    cudaMalloc(reinterpret_cast<void**>(&ranks[rank].receive), bytes + 1);
    const std::size_t shift = op.shift * kSizes[op.type];
    cudaMemcpy(ranks[rank].send + shift, sent.back().data(), sent.back().size(), cudaMemcpyHostToDevice);
    cudaMemcpy(ranks[rank].receive + shift, before.back().data(), before.back().size(),
               cudaMemcpyHostToDevice);
    ranks[rank].stream = random.below(3) == 0 ? nullptr : ranks[rank].streams[random.below(2)];
  }
  const int count = static_cast<int>(ranks.size());
  on_all(ranks, threads, [&](int rank) { launch(op, rank, count, ranks[static_cast<std::size_t>(rank)]); });
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    cudaSetDevice(static_cast<int>(rank));
    expect(cudaDeviceSynchronize() == 0, "cudaDeviceSynchronize");
    Bytes got(before[rank].size());
    cudaMemcpy(got.data(), ranks[rank].receive + op.shift * kSizes[op.type], got.size(),
               cudaMemcpyDeviceToHost);
    expect(right(op, rank, sent, before[rank], got), text_of(op) + ", rank " + std::to_string(rank));
    cudaFree(ranks[rank].send);
    cudaFree(ranks[rank].receive);
  }
}

void check_refusals(const Rank& rank, int ranks) {
  float* memory = rank.streams[0] == nullptr ? nullptr : reinterpret_cast<float*>(16);
  const ncclComm_t own = rank.communicator;
  expect(ncclAllReduce(memory, memory, 1, ncclFloat32, ncclSum, nullptr, nullptr) == ncclInvalidArgument,
         "no communicator");
  expect(ncclAllReduce(nullptr, memory, 1, ncclFloat32, ncclSum, own, nullptr) == ncclInvalidArgument,
         "no memory");
  expect(ncclAllReduce(memory, memory, 1, static_cast<ncclDataType_t>(77), ncclSum, own, nullptr) ==
             ncclInvalidArgument,
         "an unknown type");
  expect(ncclBroadcast(memory, memory, 1, ncclFloat32, ranks, own, nullptr) == ncclInvalidArgument,
         "no such root");
  expect(ncclGroupEnd() == ncclInvalidUsage, "the end of no group");
  ncclComm_t none = nullptr;
  ncclUniqueId id{};
  expect(ncclCommInitRank(&none, 1, id, 0) == ncclInvalidArgument, "an identity from elsewhere");
  ncclGetUniqueId(&id);
  expect(ncclCommInitRank(&none, ranks + 1, id, 0) == ncclInvalidUsage, "more ranks than GPUs");
}

}  // namespace

int main(int count, char** arguments) {
  Random random{static_cast<unsigned long long>(count > 1 ? std::atoi(arguments[1]) : 1)};
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 20;
  const bool threads = count > 3 && std::strcmp(arguments[3], "threads") == 0;
  int gpus = 0;
  cudaGetDeviceCount(&gpus);
  std::vector<Rank> ranks(static_cast<std::size_t>(gpus));
  ncclUniqueId id{};
  expect(ncclGetUniqueId(&id) == ncclSuccess, "ncclGetUniqueId");
  if (!threads && random.below(2) == 0) {
    std::vector<ncclComm_t> communicators(ranks.size());
    expect(ncclCommInitAll(communicators.data(), gpus, nullptr) == ncclSuccess, "ncclCommInitAll");
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) ranks[rank].communicator = communicators[rank];
  } else {
    on_all(ranks, threads, [&](int rank) {
      expect(ncclCommInitRank(&ranks[static_cast<std::size_t>(rank)].communicator, gpus, id, rank) ==
                 ncclSuccess,
             "ncclCommInitRank");
    });
  }
  for (int rank = 0; rank < gpus; ++rank) {
    Rank& own = ranks[static_cast<std::size_t>(rank)];
    int number = -1, device = -1, all = -1;
    expect(ncclCommUserRank(own.communicator, &number) == ncclSuccess && number == rank, "ncclCommUserRank");
    expect(ncclCommCuDevice(own.communicator, &device) == ncclSuccess && device == rank, "ncclCommCuDevice");
    expect(ncclCommCount(own.communicator, &all) == ncclSuccess && all == gpus, "ncclCommCount");
    cudaSetDevice(rank);
    for (cudaStream_t& stream : own.streams) cudaStreamCreate(&stream);
  }
  check_refusals(ranks[0], gpus);
  for (int i = 0; i < rounds; ++i) check_operation(ranks, threads, random);
  for (const Rank& rank : ranks) expect(ncclCommDestroy(rank.communicator) == ncclSuccess, "ncclCommDestroy");
  expect(ncclCommDestroy(ranks[0].communicator) == ncclInvalidArgument, "a communicator destroyed twice");
  if (failures == 0) std::puts("PASS");
  return failures == 0 ? 0 : 1;
}
