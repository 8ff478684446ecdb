// Writes .tracez files from processed text traces, from the format's definition alone: nothing of the reader
// is used.
#pragma once

#include <zdict.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "trace/byte_source.hpp"

namespace lockstep::trace::test {

struct TracezOptions {
  std::uint32_t subchunk = 2048;  // instructions
  bool dictionary = true;
  std::uint32_t cluster = 1;  // CTAs, along x
};

class TracezWriter {
 public:
  explicit TracezWriter(const TracezOptions& options) : options_(options) {}

  std::string write(const std::string& text) {
    read(text);
    out_ = header_ + std::string(1, '\0');
    train();
    u32(static_cast<std::uint32_t>(dictionary_.size()));
    u32(options_.subchunk);
    out_ += dictionary_;
    for (Block& block : blocks_)
      for (Warp& warp : block.warps) write_warp(warp);
    const std::uint64_t index = out_.size();
    write_index();
    u64(index);
    return out_;
  }

 private:
  struct Warp {
    std::vector<std::string> lines;
    std::uint64_t offset = 0;
    std::vector<std::uint32_t> counts;
  };
  struct Block {
    std::uint32_t id[3] = {};
    std::vector<Warp> warps;
  };

  void u32(std::uint32_t v) {
    for (unsigned i = 0; i < 4; ++i) out_ += static_cast<char>(v >> (8 * i) & 0xff);
  }
  void u64(std::uint64_t v) {
    u32(static_cast<std::uint32_t>(v));
    u32(static_cast<std::uint32_t>(v >> 32));
  }

  void read(const std::string& text) {
    std::istringstream in(text);
    bool body = false;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("#BEGIN_TB")) {
        body = true;
        blocks_.emplace_back();
      } else if (!body) {
        header_ += line + "\n";
      } else if (line.starts_with("thread block = ")) {
        std::istringstream id(line.substr(15));
        char comma = 0;
        id >> blocks_.back().id[0] >> comma >> blocks_.back().id[1] >> comma >> blocks_.back().id[2];
      } else if (line.starts_with("warp = ")) {
        const std::size_t warp = std::stoul(line.substr(7));
        auto& warps = blocks_.back().warps;
        warps.resize(std::max(warps.size(), warp + 1));
        current_ = warp;
      } else if (!line.empty() && line[0] != '#' && !line.starts_with("insts = ")) {
        blocks_.back().warps[current_].lines.push_back(line);
      }
    }
  }

  void train() {
    if (!options_.dictionary) return;
    std::string all;
    std::vector<std::size_t> sizes;
    for (const Block& block : blocks_)
      for (const Warp& warp : block.warps)
        for (std::size_t i = 0; i < warp.lines.size() && all.size() < (1 << 18); i += 8) {
          all += warp.lines[i];
          sizes.push_back(warp.lines[i].size());
        }
    dictionary_.resize(16 << 10);
    const std::size_t size = ZDICT_trainFromBuffer(dictionary_.data(), dictionary_.size(), all.data(),
                                                   sizes.data(), static_cast<unsigned>(sizes.size()));
    dictionary_.resize(ZDICT_isError(size) ? 0 : size);
  }

  void write_warp(Warp& warp) {
    warp.offset = out_.size();
    const auto total = static_cast<std::uint32_t>(warp.lines.size());
    const std::uint32_t each = options_.subchunk == 0 ? std::max(total, 1u) : options_.subchunk;
    for (std::uint32_t i = 0; i < total; i += each) warp.counts.push_back(std::min(each, total - i));
    u32(total);
    u32(static_cast<std::uint32_t>(warp.counts.size()));
    std::uint32_t next = 0;
    for (const std::uint32_t count : warp.counts) {
      std::string text;
      for (std::uint32_t i = 0; i < count; ++i, ++next) text += (i > 0 ? "\n" : "") + warp.lines[next];
      std::string stored(ZSTD_compressBound(text.size()), '\0');
      ZSTD_CCtx* const context = ZSTD_createCCtx();
      const std::size_t size =
          ZSTD_compress_usingDict(context, stored.data(), stored.size(), text.data(), text.size(),
                                  dictionary_.data(), dictionary_.size(), 3);
      ZSTD_freeCCtx(context);
      u32(static_cast<std::uint32_t>(size));
      out_.append(stored, 0, size);
    }
  }

  void write_index() {
    u32(static_cast<std::uint32_t>(blocks_.size()));
    for (const Block& block : blocks_) {
      for (const std::uint32_t v : block.id) u32(v);
      const std::uint32_t rank = block.id[0] % options_.cluster;
      for (const std::uint32_t v :
           {block.id[0] / options_.cluster, block.id[1], block.id[2], rank, 0u, 0u, rank})
        u32(v);
      u32(static_cast<std::uint32_t>(block.warps.size()));
      for (const Warp& warp : block.warps) {
        u32(static_cast<std::uint32_t>(warp.lines.size()));
        u32(static_cast<std::uint32_t>(warp.counts.size()));
        u64(warp.offset);
        for (const std::uint32_t count : warp.counts) u32(count);
      }
    }
  }

  TracezOptions options_;
  std::string header_, dictionary_, out_;
  std::vector<Block> blocks_;
  std::size_t current_ = 0;
};

inline std::string tracez_of(const std::string& text, const TracezOptions& options = {}) {
  return TracezWriter(options).write(text);
}

/// What a text trace holds, compressed or not.
inline std::string text_of(const std::string& file) {
  const auto source = open_text(file);
  std::string text, block(1 << 20, '\0');
  for (std::size_t got = 1; got > 0;) {
    got = source->read(block.data(), block.size());
    text.append(block, 0, got);
  }
  return text;
}

}  // namespace lockstep::trace::test
