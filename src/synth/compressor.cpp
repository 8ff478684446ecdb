#include "synth/compressor.hpp"

#include <boost/iostreams/categories.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>

namespace lockstep::synth {
namespace io = boost::iostreams;
namespace {

/// Boost itself writes past a stream, to its buffer, and loses errors.
struct CheckedSink {
  using char_type = char;
  using category = io::sink_tag;
  std::ostream* out;
  std::streamsize write(const char* text, std::streamsize size) const {
    out->write(text, size);
    return size;
  }
};

}  // namespace

std::unique_ptr<std::ostream> compressed(Compression compression, std::ostream& sink) {
  auto stream = std::make_unique<io::filtering_ostream>();
  switch (compression) {
    case Compression::kGzip:
      stream->push(io::gzip_compressor());
      break;
    case Compression::kXz:
      stream->push(io::lzma_compressor());
      break;
    case Compression::kZstd:
      stream->push(io::zstd_compressor());
      break;
    case Compression::kNone:
      break;
  }
  constexpr std::streamsize kBuffer = 1 << 16;
  stream->push(CheckedSink{&sink}, kBuffer);
  return stream;
}

}  // namespace lockstep::synth
