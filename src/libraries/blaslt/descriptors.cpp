#include "libraries/blaslt/descriptors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace lockstep::libraries::blaslt {
namespace {

/// Where an attribute is kept.
struct Field {
  int attribute;
  std::size_t at, bytes;
};
#define LOCKSTEP_FIELD(attribute, Type, member) \
  { attribute, offsetof(Type, member), sizeof(Type::member) }

constexpr Field kLayoutFields[] = {
    LOCKSTEP_FIELD(0, Layout, type),       LOCKSTEP_FIELD(1, Layout, order),
    LOCKSTEP_FIELD(2, Layout, rows),       LOCKSTEP_FIELD(3, Layout, columns),
    LOCKSTEP_FIELD(4, Layout, ld),         LOCKSTEP_FIELD(5, Layout, batches),
    LOCKSTEP_FIELD(6, Layout, stride),     LOCKSTEP_FIELD(7, Layout, plane_offset),
    LOCKSTEP_FIELD(8, Layout, batch_mode),
};
constexpr Field kMatmulFields[] = {
    LOCKSTEP_FIELD(0, MatmulDescription, compute),
    LOCKSTEP_FIELD(1, MatmulDescription, scale),
    LOCKSTEP_FIELD(2, MatmulDescription, pointer_mode),
    LOCKSTEP_FIELD(3, MatmulDescription, op_a),
    LOCKSTEP_FIELD(4, MatmulDescription, op_b),
    LOCKSTEP_FIELD(5, MatmulDescription, op_c),
    LOCKSTEP_FIELD(6, MatmulDescription, fill_mode),
    LOCKSTEP_FIELD(7, MatmulDescription, epilogue),
    LOCKSTEP_FIELD(8, MatmulDescription, bias),
    LOCKSTEP_FIELD(10, MatmulDescription, bias_stride),
    LOCKSTEP_FIELD(15, MatmulDescription, sm_target),
    LOCKSTEP_FIELD(25, MatmulDescription, fast_accumulation),
    LOCKSTEP_FIELD(26, MatmulDescription, bias_type),
};
constexpr Field kPreferenceFields[] = {
    LOCKSTEP_FIELD(0, Preference, search_mode),      LOCKSTEP_FIELD(1, Preference, workspace),
    LOCKSTEP_FIELD(3, Preference, reductions),       LOCKSTEP_FIELD(5, Preference, alignment[0]),
    LOCKSTEP_FIELD(6, Preference, alignment[1]),     LOCKSTEP_FIELD(7, Preference, alignment[2]),
    LOCKSTEP_FIELD(8, Preference, alignment[3]),     LOCKSTEP_FIELD(9, Preference, waves),
    LOCKSTEP_FIELD(12, Preference, implementations),
};

const Field* find(std::span<const Field> fields, int attribute) {
  const auto found = std::ranges::find(fields, attribute, &Field::attribute);
  return found == fields.end() ? nullptr : &*found;
}

/// An attribute that is not kept may be set to what it is by default: zeros.
template <class T>
Status set(std::span<const Field> fields, void* handle, int attribute, const void* value, std::size_t bytes) {
  return guarded(&blas::status_of, [&] {
    T& description = described<T>(handle);
    require(value != nullptr);
    const Field* const field = find(fields, attribute);
    if (field == nullptr) {
      const auto* const all = static_cast<const unsigned char*>(value);
      if (std::all_of(all, all + bytes, [](unsigned char byte) { return byte == 0; })) return;
      refuse(fmt::format("attribute {} of a cuBLASLt descriptor", attribute));
    }
    require(bytes == field->bytes);
    std::memcpy(reinterpret_cast<char*>(&description) + field->at, value, bytes);
  });
}
template <class T>
Status get(std::span<const Field> fields, void* handle, int attribute, void* value, std::size_t bytes,
           std::size_t* written) {
  return guarded(&blas::status_of, [&] {
    const T& description = described<T>(handle);
    const Field* const field = find(fields, attribute);
    if (field == nullptr) refuse(fmt::format("attribute {} of a cuBLASLt descriptor", attribute));
    require(bytes != 0 || written != nullptr);
    if (written != nullptr) *written = field->bytes;
    if (bytes == 0) return;
    require(value != nullptr && bytes == field->bytes);
    std::memcpy(value, reinterpret_cast<const char*>(&description) + field->at, bytes);
  });
}

template <class T>
Status initialize(void* at, std::size_t bytes, const T& initial) {
  return guarded(&blas::status_of, [&] {
    require(at != nullptr && bytes >= T::kReserved);
    new (at) T(initial);
  });
}
template <class T>
Status create(void** handle, const T& initial) {
  return guarded(&blas::status_of, [&] {
    require(handle != nullptr);
    *handle = new T(initial);
  });
}
template <class T>
Status destroy(void* handle) {
  return guarded(&blas::status_of, [&] {
    T& gone = described<T>(handle);
    gone.mark = 0;
    delete &gone;
  });
}

Layout layout_of(int type, std::uint64_t rows, std::uint64_t columns, std::int64_t ld) {
  Layout layout{};
  layout.mark = Layout::kMark, layout.type = type, layout.rows = rows, layout.columns = columns,
  layout.ld = ld;
  layout.batches = 1;
  return layout;
}
MatmulDescription description_of(int compute, int scale) {
  constexpr int kFillWhole = 2;
  MatmulDescription description{};
  description.mark = MatmulDescription::kMark, description.compute = compute, description.scale = scale;
  description.fill_mode = kFillWhole, description.epilogue = kDefault, description.bias_type = -1;
  return description;
}
Preference preference_of() {
  Preference preference{};
  preference.mark = Preference::kMark, preference.reductions = 7;
  for (std::uint32_t& bytes : preference.alignment) bytes = 256;
  preference.implementations = ~std::uint64_t{0};
  return preference;
}

}  // namespace

#define LOCKSTEP_ATTRIBUTES(name, Type, fields)                                                            \
  LOCKSTEP_LIBRARY_API Status cublasLt##name##Destroy(void* handle) { return destroy<Type>(handle); }      \
  LOCKSTEP_LIBRARY_API Status cublasLt##name##SetAttribute(void* handle, int attribute, const void* value, \
                                                           std::size_t bytes) {                            \
    return set<Type>(fields, handle, attribute, value, bytes);                                             \
  }                                                                                                        \
  LOCKSTEP_LIBRARY_API Status cublasLt##name##GetAttribute(void* handle, int attribute, void* value,       \
                                                           std::size_t bytes, std::size_t* written) {      \
    return get<Type>(fields, handle, attribute, value, bytes, written);                                    \
  }
LOCKSTEP_ATTRIBUTES(MatrixLayout, Layout, kLayoutFields)
LOCKSTEP_ATTRIBUTES(MatmulDesc, MatmulDescription, kMatmulFields)
LOCKSTEP_ATTRIBUTES(MatmulPreference, Preference, kPreferenceFields)

LOCKSTEP_LIBRARY_API Status cublasLtMatrixLayoutCreate(void** handle, int type, std::uint64_t rows,
                                                       std::uint64_t columns, std::int64_t ld) {
  return create(handle, layout_of(type, rows, columns, ld));
}
LOCKSTEP_LIBRARY_API Status cublasLtMatrixLayoutInit_internal(void* at, std::size_t bytes, int type,
                                                              std::uint64_t rows, std::uint64_t columns,
                                                              std::int64_t ld) {
  return initialize(at, bytes, layout_of(type, rows, columns, ld));
}
LOCKSTEP_LIBRARY_API Status cublasLtMatmulDescCreate(void** handle, int compute, int scale) {
  return create(handle, description_of(compute, scale));
}
LOCKSTEP_LIBRARY_API Status cublasLtMatmulDescInit_internal(void* at, std::size_t bytes, int compute,
                                                            int scale) {
  return initialize(at, bytes, description_of(compute, scale));
}
LOCKSTEP_LIBRARY_API Status cublasLtMatmulPreferenceCreate(void** handle) {
  return create(handle, preference_of());
}
LOCKSTEP_LIBRARY_API Status cublasLtMatmulPreferenceInit_internal(void* at, std::size_t bytes) {
  return initialize(at, bytes, preference_of());
}

}  // namespace lockstep::libraries::blaslt
