#include "ingest/shared_slots.h"

#include <fcntl.h>
#include <sys/mman.h>

namespace saccade::ingest {
namespace {

constexpr std::int64_t kLargePixels = 4'000'000;
constexpr std::uint64_t kPageBytes = 4096;

std::uint64_t picture_bytes(int width, int height) {
  return std::uint64_t{static_cast<std::uint32_t>(width)} * static_cast<std::uint32_t>(height) *
         core::kRgbBytes;
}

}  // namespace

std::uint32_t slots_for(int width, int height) {
  const bool large = std::int64_t{width} * height > kLargePixels;
  return large ? core::limits::kFrameSlotsLarge : core::limits::kFrameSlots;
}

bool ControlEnd::send(std::span<const std::byte> packet, int pass_fd) {
  const std::lock_guard lock(mutex_);
  return socket_ && send_packet(socket_.get(), packet, Waiting::kDontBlock, pass_fd);
}

void ControlEnd::close() {
  const std::lock_guard lock(mutex_);
  const Fd gone = std::move(socket_);
}

// Lives until the lender has let go and the last picture in it is dropped.
class SlotLender::Region {
 public:
  struct Layout {
    std::uint32_t id = 0, slots = 0;
    std::uint64_t slot_bytes = 0;
    std::uint64_t bytes() const { return slots * slot_bytes; }
  };

  Region(Layout layout, const std::uint8_t* memory, std::shared_ptr<ControlEnd> control,
         std::shared_ptr<std::atomic<int>> alive)
      : layout_(layout), memory_(memory), control_(std::move(control)), alive_(std::move(alive)) {
    ++*alive_;
  }
  ~Region() {
    munmap(const_cast<std::uint8_t*>(memory_), layout_.bytes());
    --*alive_;
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  const Layout& layout() const { return layout_; }
  const std::uint8_t* slot(std::uint32_t index) const {
    return memory_ + index * layout_.slot_bytes;
  }
  // False when it was out already.
  bool take(std::uint32_t index) { return (out_.fetch_or(1U << index) & (1U << index)) == 0; }
  // The mark goes first: the worker may fill the slot as soon as it knows.
  void give_back(std::uint32_t index) {
    out_.fetch_and(~(1U << index));
    wire::FreeSlot message;
    message.region = layout_.id;
    message.slot = index;
    control_->send(bytes_of(message));
  }
  bool all_out() const { return out_.load() == (1U << layout_.slots) - 1; }

 private:
  const Layout layout_;
  const std::uint8_t* const memory_;
  std::atomic<std::uint32_t> out_{0};  // one bit per slot
  const std::shared_ptr<ControlEnd> control_;
  const std::shared_ptr<std::atomic<int>> alive_;
};

static_assert(core::limits::kFrameSlots < 32 && core::limits::kFrameSlotsLarge < 32);

core::Status SlotLender::grant(int width, int height) {
  if (alive_->load() >= kRegionsAliveMax) {
    return core::error(core::ErrorCode::kExhausted,
                       "the picture size changed " + std::to_string(kRegionsAliveMax) +
                           " times while older pictures were still in use");
  }
  Region::Layout layout;
  layout.id = next_region_++;
  layout.slots = slots_for(width, height);
  layout.slot_bytes = (picture_bytes(width, height) + kPageBytes - 1) / kPageBytes * kPageBytes;
  const auto no_memory = [&] {
    return core::error(
        core::ErrorCode::kExhausted,
        "no shared memory for " + std::to_string(layout.bytes() >> 20) + " MiB of pictures");
  };
  const Fd memory(memfd_create("saccade-pictures", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory || ftruncate(memory.get(), static_cast<off_t>(layout.bytes())) != 0 ||
      fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return no_memory();
  }
  void* mapped = mmap(nullptr, layout.bytes(), PROT_READ, MAP_SHARED, memory.get(), 0);
  if (mapped == MAP_FAILED) return no_memory();
  regions_[1] = std::move(regions_[0]);
  regions_[0] =
      std::make_shared<Region>(layout, static_cast<const std::uint8_t*>(mapped), control_, alive_);
  wire::Region message;
  message.region = layout.id;
  message.slots = layout.slots;
  message.slot_bytes = layout.slot_bytes;
  control_->send(bytes_of(message), memory.get());
  return {};
}

std::optional<core::Pixels> SlotLender::take(const PictureSent& picture) {
  for (const auto& region : regions_) {
    if (!region || region->layout().id != picture.region) continue;
    const Region::Layout& layout = region->layout();
    if (picture.slot >= layout.slots) return std::nullopt;
    if (picture_bytes(picture.width, picture.height) > layout.slot_bytes) return std::nullopt;
    if (!region->take(picture.slot)) return std::nullopt;
    core::Pixels pixels;
    pixels.data = {
        region->slot(picture.slot),
        [owner = region, slot = picture.slot](const std::uint8_t*) { owner->give_back(slot); }};
    pixels.width = picture.width;
    pixels.height = picture.height;
    pixels.stride_bytes = std::ptrdiff_t{picture.width} * core::kRgbBytes;
    return pixels;
  }
  return std::nullopt;
}

bool SlotLender::all_out() const { return regions_[0] && regions_[0]->all_out(); }

}  // namespace saccade::ingest
