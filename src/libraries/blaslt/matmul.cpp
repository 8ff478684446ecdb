// cublasLtMatmul, and the choice of its only algorithm.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "libraries/blas/context.hpp"
#include "libraries/blas/gemm.hpp"
#include "libraries/blaslt/descriptors.hpp"

namespace lockstep::libraries::blaslt {

[[nodiscard]] std::string_view embedded_ptx(std::string_view file);

namespace {

using blas::DataType;
using blas::GemmArguments;

constexpr blas::GemmTile kTiles[] = {{64, 64, 256}, {32, 32, 64}};

/// Kernels with epilogues, where those of cuBLAS (with tensor cores) have none: lockstep_blaslt_NAME_ROWS in
/// FILE's PTX.
struct Epilogues {
  DataType a, c;
  const char *name, *file;
  std::span<const blas::GemmTile> tiles;
};
constexpr Epilogues kEpilogues[] = {
    {blas::kReal32, blas::kReal32, "f32", "f32", kTiles},
    {blas::kBfloat16, blas::kBfloat16, "bf16", "bf16", kTiles},
    {blas::kBfloat16, blas::kReal32, "bf16f32", "bf16", kTiles},
};

Kernels& own_kernels(const std::string& file) {
  static auto& mutex = *new std::mutex;
  static auto& all = *new std::map<std::string, Kernels>;  // to the end of the process
  const std::lock_guard lock(mutex);
  return all.try_emplace(file, embedded_ptx(file)).first->second;
}

struct Operands {
  const MatmulDescription& matmul;
  const Layout &a, &b, &c, &d;
};

/// A product that is supported: what is to be launched, but for the pointers.
struct Plan {
  GemmArguments arguments{};
  const blas::GemmKind* kind = nullptr;  // unless an epilogue needs other kernels
  const Epilogues* epilogues = nullptr;
  bool swapped = false;  // D is by rows: its transpose is computed, from B and A
};

[[noreturn]] void refuse_types(const Operands& o) {
  refuse(
      fmt::format("cublasLtMatmul: A, B, C and D of cudaDataType {}, {}, {} and {} with compute type {} and "
                  "scale type {}",
                  o.a.type, o.b.type, o.c.type, o.d.type, o.matmul.compute, o.matmul.scale));
}

/// The type of sums, of alpha and of beta is checked.
DataType sums_of(const Operands& o) {
  const auto needs = [&](DataType scale, DataType sums) {
    if (o.matmul.scale != scale) refuse_types(o);
    return sums;
  };
  switch (o.matmul.compute) {
    case blas::kCompute16F:
    case blas::kCompute16FPedantic:
      if (o.a.type != blas::kReal16 || o.d.type != blas::kReal16) refuse_types(o);
      return needs(blas::kReal16, blas::kReal32);
    case blas::kCompute32F:
    case blas::kCompute32FPedantic:
    case blas::kCompute32FFast16F:
    case blas::kCompute32FFast16BF:
    case blas::kCompute32FFastTF32:
      return needs(blas::kReal32, blas::kReal32);
    case blas::kCompute64F:
    case blas::kCompute64FPedantic:
      return needs(blas::kReal64, blas::kReal64);
    case blas::kCompute32I:
    case blas::kCompute32IPedantic:
      return needs(blas::kInt32, blas::kInt32);
    default:
      refuse_types(o);
  }
}

void choose_kernels(const Operands& o, int arch, Plan& plan) {
  const DataType sums = sums_of(o);
  if (o.a.type != o.b.type || o.c.type != o.d.type) refuse_types(o);
  const auto a = static_cast<DataType>(o.a.type), d = static_cast<DataType>(o.d.type);
  plan.kind = blas::find_gemm(a, d, sums, arch);
  if (plan.kind == nullptr && o.matmul.epilogue == kDefault) refuse_types(o);
  if (o.matmul.epilogue == kDefault || (plan.kind != nullptr && plan.kind->tensor)) return;
  for (const Epilogues& kernels : kEpilogues)
    if (plan.epilogues == nullptr && kernels.a == a && kernels.c == d) plan.epilogues = &kernels;
  if (plan.epilogues == nullptr)
    refuse(fmt::format("cublasLtMatmul: an epilogue with cudaDataType {}", o.a.type));
}

void set_epilogue(const Operands& o, Plan& plan) {
  const MatmulDescription& m = o.matmul;
  GemmArguments& g = plan.arguments;
  switch (m.epilogue) {
    case kDefault:
    case kBias:
      break;
    case kRelu:
    case kReluBias:
      g.activation = blas::kRelu;
      break;
    case kGelu:
    case kGeluBias:
      g.activation = blas::kGelu;
      break;
    default:
      refuse(fmt::format("cublasLtMatmul: epilogue {}", m.epilogue));
  }
  if ((m.epilogue & kBias) == 0) return;
  const int type = m.bias_type >= 0 ? m.bias_type : o.d.type;
  if (type != blas::kReal32 && type != o.d.type)
    refuse(fmt::format("cublasLtMatmul: a bias of cudaDataType {}", type));
  g.bias_kind = plan.swapped ? blas::kBiasByColumn : blas::kBiasByRow;
  g.bias_type = type == blas::kReal16     ? blas::kBiasHalf
                : type == blas::kBfloat16 ? blas::kBiasBfloat
                                          : blas::kBiasFloat;
  g.bias = m.bias, g.stride_bias = m.bias_stride;
}

/// Whether a matrix, read by columns, is the transpose of the operand.
int operation_of(const Layout& layout, int op) {
  require(op == blas::kOpN || op == blas::kOpT || op == blas::kOpC);
  return (op != blas::kOpN) != (layout.order == kRows) ? blas::kOpT : blas::kOpN;
}

void check_layout(const Layout& layout, std::int64_t batches) {
  if (layout.order != kColumns && layout.order != kRows)
    refuse(fmt::format("cublasLtMatmul: order {}", layout.order));
  if (layout.batch_mode != 0 || layout.plane_offset != 0)
    refuse("cublasLtMatmul: batches by pointers, or planes");
  const std::uint64_t along = layout.order == kRows ? layout.columns : layout.rows;
  require(layout.ld >= 0 && static_cast<std::uint64_t>(layout.ld) >= along && layout.batches == batches);
}

Plan plan_of(const Operands& o, int arch) {
  Plan plan;
  GemmArguments& g = plan.arguments;
  const MatmulDescription& m = o.matmul;
  for (const Layout* layout : {&o.a, &o.b, &o.c, &o.d}) check_layout(*layout, o.d.batches);
  require(o.d.batches >= 0);
  if (o.c.order != o.d.order) refuse("cublasLtMatmul: C and D of two orders");
  if (m.op_c != blas::kOpN) refuse("cublasLtMatmul: a transposed C");
  if (m.fill_mode != 2) refuse("cublasLtMatmul: a triangle of D");
  if (m.pointer_mode != 0 && m.pointer_mode != 1)
    refuse(fmt::format("cublasLtMatmul: pointer mode {}", m.pointer_mode));
  const bool plain_a = m.op_a == blas::kOpN, plain_b = m.op_b == blas::kOpN;
  const std::uint64_t k = plain_a ? o.a.columns : o.a.rows;
  require((plain_a ? o.a.rows : o.a.columns) == o.d.rows &&
          (plain_b ? o.b.columns : o.b.rows) == o.d.columns);
  require((plain_b ? o.b.rows : o.b.columns) == k && o.c.rows == o.d.rows && o.c.columns == o.d.columns);
  plan.swapped = o.d.order == kRows;
  choose_kernels(o, arch, plan);
  set_epilogue(o, plan);
  const int op_a = operation_of(o.a, m.op_a), op_b = operation_of(o.b, m.op_b);
  const Layout &first = plan.swapped ? o.b : o.a, &second = plan.swapped ? o.a : o.b;
  g.m = blas::size_of(static_cast<std::int64_t>(plan.swapped ? o.d.columns : o.d.rows));
  g.n = blas::size_of(static_cast<std::int64_t>(plan.swapped ? o.d.rows : o.d.columns));
  g.k = blas::size_of(static_cast<std::int64_t>(k));
  g.op_a = plan.swapped ? 1 - op_b : op_a, g.op_b = plan.swapped ? 1 - op_a : op_b;
  g.lda = first.ld, g.ldb = second.ld, g.ldc = o.c.ld, g.ldd = o.d.ld;
  g.stride_a = first.stride, g.stride_b = second.stride, g.stride_c = o.c.stride, g.stride_d = o.d.stride;
  g.batches = o.d.batches;
  return plan;
}

void launch(const blas::Context& context, const Plan& plan) {
  if (plan.epilogues == nullptr) return blas::launch_gemm(context, *plan.kind, plan.arguments);
  blas::launch_gemm(own_kernels(std::string("epilogue_") + plan.epilogues->file),
                    std::string("lockstep_blaslt_") + plan.epilogues->name, plan.epilogues->tiles,
                    plan.arguments, context.multiprocessors, context.stream);
}

Operands operands_of(const void* matmul, const void* a, const void* b, const void* c, const void* d) {
  return {described<MatmulDescription>(matmul), described<Layout>(a), described<Layout>(b),
          described<Layout>(c), described<Layout>(d)};
}

struct Algorithm {
  std::uint64_t data[8];
};
struct HeuristicResult {
  Algorithm algorithm;
  std::size_t workspace;
  Status state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(HeuristicResult) == 96);

/// Programs may pass a handle of cuBLAS: handles of cuBLASLt hold nothing.
void check_handle(const void* handle) {
  if (handle == nullptr) throw Error(Failure::kNotInitialized);
}

void check_product(const void* handle, const Operands& operands, HeuristicResult& result) {
  check_handle(handle);
  const blas::Context context;
  (void)plan_of(operands, context.arch);
  result = {};
  result.waves = 1;
}

}  // namespace

LOCKSTEP_LIBRARY_API Status cublasLtCreate(void** handle) {
  return guarded(&blas::status_of, [&] {
    require(handle != nullptr);
    *handle = handles<blas::Context>().create();
  });
}
LOCKSTEP_LIBRARY_API Status cublasLtDestroy(void* handle) {
  return guarded(&blas::status_of, [&] { handles<blas::Context>().destroy(handle); });
}

LOCKSTEP_LIBRARY_API Status cublasLtMatmul(void* handle, void* matmul, const void* alpha, const void* a,
                                           void* a_layout, const void* b, void* b_layout, const void* beta,
                                           const void* c, void* c_layout, void* d, void* d_layout,
                                           const Algorithm*, void*, std::size_t, Stream stream) {
  return guarded(&blas::status_of, [&] {
    check_handle(handle);
    const Operands operands = operands_of(matmul, a_layout, b_layout, c_layout, d_layout);
    blas::Context context;
    context.stream = stream, context.pointer_mode = operands.matmul.pointer_mode;
    Plan plan = plan_of(operands, context.arch);
    GemmArguments& g = plan.arguments;
    require(g.bias_kind == blas::kNoBias || g.bias != nullptr);
    g.a = plan.swapped ? b : a, g.b = plan.swapped ? a : b, g.c = c, g.d = d;
    const auto scale = static_cast<DataType>(operands.matmul.scale);
    g.alpha = blas::scalar_of(context, alpha, scale), g.beta = blas::scalar_of(context, beta, scale);
    launch(context, plan);
  });
}

LOCKSTEP_LIBRARY_API Status cublasLtMatmulAlgoGetHeuristic(void* handle, void* matmul, void* a, void* b,
                                                           void* c, void* d, void* preference, int asked,
                                                           HeuristicResult results[], int* found) {
  return guarded(&blas::status_of, [&] {
    require(found != nullptr && results != nullptr && asked > 0);
    *found = 0;
    (void)described<Preference>(preference);
    check_product(handle, operands_of(matmul, a, b, c, d), results[0]);
    *found = 1;
  });
}
LOCKSTEP_LIBRARY_API Status cublasLtMatmulAlgoCheck(void* handle, void* matmul, void* a, void* b, void* c,
                                                    void* d, const Algorithm* algorithm,
                                                    HeuristicResult* result) {
  return guarded(&blas::status_of, [&] {
    require(algorithm != nullptr && result != nullptr);
    check_product(handle, operands_of(matmul, a, b, c, d), *result);
  });
}
/// There is one algorithm, number 0.
LOCKSTEP_LIBRARY_API Status cublasLtMatmulAlgoGetIds(void* handle, int, int, int, int, int, int, int asked,
                                                     int ids[], int* found) {
  return guarded(&blas::status_of, [&] {
    check_handle(handle);
    require(asked > 0 && ids != nullptr);
    ids[0] = 0;
    if (found != nullptr) *found = 1;
  });
}
LOCKSTEP_LIBRARY_API Status cublasLtMatmulAlgoInit(void* handle, int, int, int, int, int, int, int id,
                                                   Algorithm* algorithm) {
  return guarded(&blas::status_of, [&] {
    check_handle(handle);
    require(id == 0 && algorithm != nullptr);
    *algorithm = {};
  });
}
LOCKSTEP_LIBRARY_API const char* cublasLtGetStatusName(int status) { return blas::name_of(status); }
LOCKSTEP_LIBRARY_API const char* cublasLtGetStatusString(int status) { return blas::name_of(status); }
LOCKSTEP_LIBRARY_API Status cublasLtGetProperty(int property, int* value) {
  return blas::get_property(property, value);
}
LOCKSTEP_LIBRARY_API std::size_t cublasLtGetVersion() {
  return static_cast<std::size_t>(blas::library_version());
}
LOCKSTEP_LIBRARY_API std::size_t cublasLtGetCudartVersion() {
  return static_cast<std::size_t>(blas::runtime_version());
}

}  // namespace lockstep::libraries::blaslt
