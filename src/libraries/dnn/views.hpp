// What kernels are given: kept free of anything but plain data.
#pragma once

namespace lockstep::libraries::dnn {

/// Of images, channels, rows and columns. Strides are in elements.
struct Shape {
  int size[4] = {1, 1, 1, 1};
  int stride[4] = {};
};

/// y = alpha * what is computed + beta * y; y is not read where beta is 0.
template <class T>
struct Blend {
  T alpha, beta;
};

struct Window {
  int padding[2];
  int step[2];
  int dilation[2];
  int size[2];
};

struct Convolution {
  Shape in, filter, out;  // the filter's: of output channels, channels of a group, rows, columns
  Window window;
  int groups;
  int flipped;  // the filter, as in a mathematical convolution
};

}  // namespace lockstep::libraries::dnn
