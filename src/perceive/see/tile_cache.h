#pragma once
// Exact reuse of encoded views: the same pixels are never encoded twice while the cache remembers
// them. Exact means: nothing that looks alike is taken for equal.
//
// Key: SHA-256 over a domain tag, the encoder's fingerprint (model and preprocessing), the place
// (its wrapper tokens differ), width, height, channels and the pixels row by row without padding.
// The shape is part of it, so 30 x 100 and 100 x 30 pixels with equal bytes differ. 128 bit of the
// digest find the entry; the other 128 bit and the byte count must agree as well.
#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "core/limits.h"
#include "core/pixels.h"
#include "engine/vision_encoder.h"

namespace saccade::perceive {

struct TileKey {
  std::array<std::uint64_t, 2> hash{};
  std::array<std::uint64_t, 2> check{};
  std::uint64_t pixel_bytes = 0;
  bool operator==(const TileKey&) const = default;
};

// Nothing when the hash library refuses; the view then is encoded without the cache.
std::optional<TileKey> make_tile_key(const core::PixelView& view, engine::ViewPlace place,
                                     std::string_view fingerprint);

// Least recently used goes first, counted in bytes. Who still holds a view keeps it alive; the
// cache only forgets it. Not thread-safe: it belongs to the encoder's thread.
class TileCache {
 public:
  explicit TileCache(std::size_t bytes_max = core::limits::kTileCacheBytes)
      : bytes_max_(bytes_max) {}
  TileCache(TileCache&&) = default;  // the index points into the list: no copies

  // Null when unknown.
  engine::EncodedViewPtr find(const TileKey& key);
  // Replaces an entry of the same hash. A view larger than the whole cache is not kept.
  void insert(const TileKey& key, engine::EncodedViewPtr view);

  std::size_t bytes() const { return bytes_; }
  std::size_t entries() const { return order_.size(); }
  std::uint64_t hits() const { return hits_; }
  std::uint64_t misses() const { return misses_; }
  std::uint64_t evictions() const { return evictions_; }

 private:
  struct Entry {
    TileKey key;
    engine::EncodedViewPtr view;
    std::size_t bytes = 0;
  };
  struct FirstWord {
    std::size_t operator()(const std::array<std::uint64_t, 2>& hash) const {
      return static_cast<std::size_t>(hash[0]);
    }
  };
  using Order = std::list<Entry>;  // front = used last

  void drop(Order::iterator entry);

  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  Order order_;
  std::unordered_map<std::array<std::uint64_t, 2>, Order::iterator, FirstWord> index_;
  std::uint64_t hits_ = 0, misses_ = 0, evictions_ = 0;
};

}  // namespace saccade::perceive
