#include "perceive/see/tile_cache.h"

#include <openssl/evp.h>

#include <cstring>
#include <memory>
#include <utility>

namespace saccade::perceive {
namespace {

constexpr std::string_view kDomain = "saccade tile 1";
// An entry's own cost beside its embeddings: list and index nodes, segments, shared counts.
constexpr std::size_t kEntryOverheadBytes = 512;

struct DigestFree {
  void operator()(EVP_MD_CTX* digest) const { EVP_MD_CTX_free(digest); }
};

std::size_t bytes_of(const engine::EncodedView& view) {
  std::size_t bytes = kEntryOverheadBytes;
  for (const engine::ViewSegment& segment : view.segments) {
    if (const auto* ids = std::get_if<std::vector<engine::TokenId>>(&segment)) {
      bytes += ids->size() * sizeof(engine::TokenId);
    } else if (const auto& span = std::get<engine::VisualSpanPtr>(segment)) {
      bytes += span->embeddings.size() * sizeof(float);
    }
  }
  return bytes;
}

}  // namespace

std::optional<TileKey> make_tile_key(const core::PixelView& view, engine::ViewPlace place,
                                     std::string_view fingerprint) {
  const std::unique_ptr<EVP_MD_CTX, DigestFree> digest(EVP_MD_CTX_new());
  if (!digest || EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr) != 1) return std::nullopt;
  const auto add = [&](const void* data, std::size_t bytes) {
    return EVP_DigestUpdate(digest.get(), data, bytes) == 1;
  };
  // The lengths come first, so that no two inputs spell the same byte string.
  const std::array<std::int64_t, 6> head{static_cast<std::int64_t>(fingerprint.size()),
                                         place.row,
                                         place.column,
                                         view.width,
                                         view.height,
                                         core::kRgbBytes};
  bool ok = add(kDomain.data(), kDomain.size()) && add(head.data(), sizeof(head)) &&
            add(fingerprint.data(), fingerprint.size());
  const std::size_t row_bytes = static_cast<std::size_t>(view.width) * core::kRgbBytes;
  for (int y = 0; ok && y < view.height; ++y) ok = add(view.row(y), row_bytes);

  std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
  unsigned int sum_bytes = 0;
  TileKey key;
  if (!ok || EVP_DigestFinal_ex(digest.get(), sum.data(), &sum_bytes) != 1 ||
      sum_bytes != sizeof(key.hash) + sizeof(key.check)) {
    return std::nullopt;
  }
  std::memcpy(key.hash.data(), sum.data(), sizeof(key.hash));
  std::memcpy(key.check.data(), sum.data() + sizeof(key.hash), sizeof(key.check));
  key.pixel_bytes = row_bytes * static_cast<std::size_t>(view.height);
  return key;
}

engine::EncodedViewPtr TileCache::find(const TileKey& key) {
  const auto found = index_.find(key.hash);
  if (found == index_.end() || found->second->key != key) {
    ++misses_;
    return nullptr;
  }
  ++hits_;
  order_.splice(order_.begin(), order_, found->second);
  return found->second->view;
}

void TileCache::insert(const TileKey& key, engine::EncodedViewPtr view) {
  if (!view) return;
  if (const auto found = index_.find(key.hash); found != index_.end()) drop(found->second);
  const std::size_t bytes = bytes_of(*view);
  if (bytes > bytes_max_) return;
  while (bytes_ + bytes > bytes_max_) {
    drop(std::prev(order_.end()));
    ++evictions_;
  }
  order_.push_front({key, std::move(view), bytes});
  index_.emplace(key.hash, order_.begin());
  bytes_ += bytes;
}

void TileCache::drop(Order::iterator entry) {
  bytes_ -= entry->bytes;
  index_.erase(entry->key.hash);
  order_.erase(entry);
}

}  // namespace saccade::perceive
