#include "synth/compressor.hpp"

#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>

namespace lockstep::synth {
namespace io = boost::iostreams;

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
  stream->push(sink, kBuffer);
  return stream;
}

}  // namespace lockstep::synth
