// Descriptors of tensors and filters.
#include <algorithm>

#include "libraries/dnn/context.hpp"

namespace lockstep::libraries::dnn {
namespace {

std::size_t bytes_of(int type) { return type == kDouble || type == 10 ? 8 : 4; }

void require_type(int type, const char* what) {
  with_type(type, what, [](auto, const char*) {});
}

/// Without gaps.
Shape packed(int format, const int* size) {
  Shape shape;
  std::copy(size, size + 4, shape.size);
  const int order_nchw[] = {0, 1, 2, 3}, order_nhwc[] = {0, 2, 3, 1};
  const int* const order = format == kNhwc ? order_nhwc : order_nchw;
  int stride = 1;
  for (int i = 3; i >= 0; --i) {
    shape.stride[order[i]] = stride;
    stride *= size[order[i]];
  }
  return shape;
}

void set_packed(Tensor& tensor, const char* what, int type, int format, int dimensions, const int* size) {
  require(std::all_of(size, size + 4, [](int length) { return length > 0; }));
  if (format != kNchw && format != kNhwc)
    refuse(std::string(what) + ": tensor format " + std::to_string(format));
  require_type(type, what);
  tensor.type = type;
  tensor.format = format;
  tensor.dimensions = dimensions;
  tensor.shape = packed(format, size);
}

void set_strided(Tensor& tensor, const char* what, int type, int dimensions, const int* size,
                 const int* stride) {
  require(std::all_of(size, size + 4, [](int length) { return length > 0; }));
  require(std::all_of(stride, stride + 4, [](int distance) { return distance >= 0; }));
  require_type(type, what);
  tensor.type = type;
  tensor.dimensions = dimensions;
  std::copy(size, size + 4, tensor.shape.size);
  std::copy(stride, stride + 4, tensor.shape.stride);
}

/// From what is first to what is last.
std::size_t extent_of(const Tensor& tensor) {
  require(tensor.dimensions > 0);
  std::size_t last = 0;
  for (int d = 0; d < 4; ++d)
    last +=
        static_cast<std::size_t>(tensor.shape.size[d] - 1) * static_cast<std::size_t>(tensor.shape.stride[d]);
  return (last + 1) * bytes_of(tensor.type);
}

template <class T>
Status create(void** descriptor) {
  return entry([&] {
    require(descriptor != nullptr);
    *descriptor = handles<T>().create();
  });
}
template <class T>
Status destroy(const void* descriptor) {
  return entry([&] {
    (void)described<T>(descriptor);
    handles<T>().destroy(descriptor);
  });
}

void put(int* to, int value) {
  if (to != nullptr) *to = value;
}

/// Sizes and strides of 3 or 4 dimensions, as 4.
void widen(const char* what, int dimensions, const int* from, int* to, int filler) {
  require(from != nullptr && dimensions >= 3);
  if (dimensions > 4) refuse(std::string(what) + ": more than 4 dimensions");
  std::copy(from, from + dimensions, to);
  if (dimensions == 3) to[3] = filler;
}

}  // namespace

LOCKSTEP_DNN_API cudnnCreateTensorDescriptor(void** descriptor) { return create<Tensor>(descriptor); }
LOCKSTEP_DNN_API cudnnDestroyTensorDescriptor(void* descriptor) { return destroy<Tensor>(descriptor); }
LOCKSTEP_DNN_API cudnnSetTensor4dDescriptor(void* descriptor, int format, int type, int n, int c, int h,
                                            int w) {
  return entry([&] {
    const int size[] = {n, c, h, w};
    set_packed(described<Tensor>(descriptor), "cudnnSetTensor4dDescriptor", type, format, 4, size);
  });
}
LOCKSTEP_DNN_API cudnnSetTensor4dDescriptorEx(void* descriptor, int type, int n, int c, int h, int w,
                                              int n_stride, int c_stride, int h_stride, int w_stride) {
  return entry([&] {
    const int size[] = {n, c, h, w}, stride[] = {n_stride, c_stride, h_stride, w_stride};
    set_strided(described<Tensor>(descriptor), "cudnnSetTensor4dDescriptorEx", type, 4, size, stride);
  });
}
LOCKSTEP_DNN_API cudnnSetTensorNdDescriptor(void* descriptor, int type, int dimensions, const int* sizes,
                                            const int* strides) {
  return entry([&] {
    int size[4], stride[4];
    widen("cudnnSetTensorNdDescriptor", dimensions, sizes, size, 1);
    widen("cudnnSetTensorNdDescriptor", dimensions, strides, stride, 1);
    set_strided(described<Tensor>(descriptor), "cudnnSetTensorNdDescriptor", type, dimensions, size, stride);
  });
}
LOCKSTEP_DNN_API cudnnSetTensorNdDescriptorEx(void* descriptor, int format, int type, int dimensions,
                                              const int* sizes) {
  return entry([&] {
    int size[4];
    widen("cudnnSetTensorNdDescriptorEx", dimensions, sizes, size, 1);
    set_packed(described<Tensor>(descriptor), "cudnnSetTensorNdDescriptorEx", type, format, dimensions, size);
  });
}
LOCKSTEP_DNN_API cudnnGetTensor4dDescriptor(const void* descriptor, int* type, int* n, int* c, int* h, int* w,
                                            int* n_stride, int* c_stride, int* h_stride, int* w_stride) {
  return entry([&] {
    const Tensor& tensor = described<Tensor>(descriptor);
    require(tensor.dimensions > 0);
    put(type, tensor.type);
    int *const sizes[] = {n, c, h, w}, *const strides[] = {n_stride, c_stride, h_stride, w_stride};
    for (int d = 0; d < 4; ++d) {
      put(sizes[d], tensor.shape.size[d]);
      put(strides[d], tensor.shape.stride[d]);
    }
  });
}
LOCKSTEP_DNN_API cudnnGetTensorSizeInBytes(const void* descriptor, std::size_t* bytes) {
  return entry([&] {
    require(bytes != nullptr);
    *bytes = extent_of(described<Tensor>(descriptor));
  });
}

LOCKSTEP_DNN_API cudnnCreateFilterDescriptor(void** descriptor) { return create<Filter>(descriptor); }
LOCKSTEP_DNN_API cudnnDestroyFilterDescriptor(void* descriptor) { return destroy<Filter>(descriptor); }
LOCKSTEP_DNN_API cudnnSetFilter4dDescriptor(void* descriptor, int type, int format, int k, int c, int h,
                                            int w) {
  return entry([&] {
    const int size[] = {k, c, h, w};
    set_packed(described<Filter>(descriptor), "cudnnSetFilter4dDescriptor", type, format, 4, size);
  });
}
LOCKSTEP_DNN_API cudnnSetFilterNdDescriptor(void* descriptor, int type, int format, int dimensions,
                                            const int* sizes) {
  return entry([&] {
    int size[4];
    widen("cudnnSetFilterNdDescriptor", dimensions, sizes, size, 1);
    set_packed(described<Filter>(descriptor), "cudnnSetFilterNdDescriptor", type, format, dimensions, size);
  });
}
LOCKSTEP_DNN_API cudnnGetFilter4dDescriptor(const void* descriptor, int* type, int* format, int* k, int* c,
                                            int* h, int* w) {
  return entry([&] {
    const Filter& filter = described<Filter>(descriptor);
    require(filter.dimensions > 0);
    put(type, filter.type);
    put(format, filter.format);
    int* const sizes[] = {k, c, h, w};
    for (int d = 0; d < 4; ++d) put(sizes[d], filter.shape.size[d]);
  });
}
LOCKSTEP_DNN_API cudnnGetFilterSizeInBytes(const void* descriptor, std::size_t* bytes) {
  return entry([&] {
    require(bytes != nullptr);
    *bytes = extent_of(described<Filter>(descriptor));
  });
}

LOCKSTEP_DNN_API cudnnCreateConvolutionDescriptor(void** descriptor) {
  return create<ConvolutionSetting>(descriptor);
}
LOCKSTEP_DNN_API cudnnDestroyConvolutionDescriptor(void* descriptor) {
  return destroy<ConvolutionSetting>(descriptor);
}
LOCKSTEP_DNN_API cudnnCreateActivationDescriptor(void** descriptor) {
  return create<ActivationSetting>(descriptor);
}
LOCKSTEP_DNN_API cudnnDestroyActivationDescriptor(void* descriptor) {
  return destroy<ActivationSetting>(descriptor);
}
LOCKSTEP_DNN_API cudnnCreatePoolingDescriptor(void** descriptor) {
  return create<PoolingSetting>(descriptor);
}
LOCKSTEP_DNN_API cudnnDestroyPoolingDescriptor(void* descriptor) {
  return destroy<PoolingSetting>(descriptor);
}

}  // namespace lockstep::libraries::dnn
