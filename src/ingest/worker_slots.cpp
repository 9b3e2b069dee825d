#include "ingest/worker_slots.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>

namespace saccade::ingest {

bool WorkerSlots::Region::idle() const {
  return std::all_of(states.begin(), states.end(),
                     [](SlotState state) { return state == SlotState::kFree; });
}

WorkerSlots::~WorkerSlots() {
  for (const Region& region : regions_) {
    munmap(region.memory, region.states.size() * region.slot_bytes);
  }
}

std::uint8_t* WorkerSlots::acquire(int width, int height) {
  const std::uint64_t bytes = std::uint64_t{static_cast<std::uint32_t>(width)} *
                              static_cast<std::uint32_t>(height) * core::kRgbBytes;
  while (hear_parent(Waiting::kDontBlock)) {
  }
  if (parent_gone_) return nullptr;
  if (regions_.empty() || regions_.back().slot_bytes < bytes) {
    if (!ask_for_region(width, height, bytes)) return nullptr;
  }
  std::uint8_t* slot = take_free(bytes);
  while (slot == nullptr && waits_ && hear_parent(Waiting::kBlock)) slot = take_free(bytes);
  return slot;
}

std::uint8_t* WorkerSlots::take_free(std::uint64_t bytes) {
  // Key pictures are far apart: a few of them ahead of their taker are seconds ahead.
  constexpr std::ptrdiff_t kKeysAhead = 2;
  Region& region = regions_.back();
  if (region.slot_bytes < bytes) return nullptr;
  const auto out = std::count(region.states.begin(), region.states.end(), SlotState::kOut);
  if (key_pictures_only_ && waits_ && out >= kKeysAhead) return nullptr;
  for (std::size_t i = 0; i < region.states.size(); ++i) {
    if (region.states[i] != SlotState::kFree) continue;
    region.states[i] = SlotState::kFilling;
    return region.memory + i * region.slot_bytes;
  }
  return nullptr;
}

std::optional<WorkerSlots::Place> WorkerSlots::hand_over(const std::uint8_t* slot) {
  for (Region& region : regions_) {
    const std::uint64_t bytes = region.states.size() * region.slot_bytes;
    if (slot < region.memory || slot >= region.memory + bytes) continue;
    const auto index = static_cast<std::uint64_t>(slot - region.memory) / region.slot_bytes;
    region.states[index] = SlotState::kOut;
    return Place{region.id, static_cast<std::uint32_t>(index)};
  }
  return std::nullopt;
}

bool WorkerSlots::ask_for_region(int width, int height, std::uint64_t bytes) {
  wire::NeedSlots message;
  message.width = width;
  message.height = height;
  if (!send_packet(control_, bytes_of(message), Waiting::kBlock)) return false;
  while (regions_.empty() || regions_.back().slot_bytes < bytes) {
    if (!hear_parent(Waiting::kBlock)) return false;
  }
  return true;
}

bool WorkerSlots::hear_parent(Waiting waiting) {
  std::array<std::byte, kMessageBytesMax> buffer;
  const Received received = receive_packet(control_, buffer, waiting, Descriptors::kTake);
  if (received.would_block) return false;
  const auto packet = std::span<const std::byte>(buffer).first(received.bytes);
  if (const auto region = read_as<wire::Region>(packet)) {
    parent_gone_ = !map_region(*region, received.fd.get());
  } else if (const auto freed = read_as<wire::FreeSlot>(packet)) {
    for (Region& region_of : regions_) {
      if (region_of.id == freed->region && freed->slot < region_of.states.size()) {
        region_of.states[freed->slot] = SlotState::kFree;
      }
    }
    forget_idle_regions();
  } else if (const auto effort = read_as<wire::Effort>(packet)) {
    key_pictures_only_ = effort->key_pictures_only != 0;
  } else {
    parent_gone_ = true;
  }
  return !parent_gone_;
}

bool WorkerSlots::map_region(const wire::Region& message, int fd) {
  const std::uint64_t bytes = message.slots * message.slot_bytes;
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) return false;
  Region region;
  region.id = message.region;
  region.slot_bytes = message.slot_bytes;
  region.memory = static_cast<std::uint8_t*>(mapped);
  region.states.assign(message.slots, SlotState::kFree);
  regions_.push_back(std::move(region));
  forget_idle_regions();
  return true;
}

void WorkerSlots::forget_idle_regions() {
  std::size_t i = 0;
  while (i + 1 < regions_.size()) {
    if (regions_[i].idle()) {
      munmap(regions_[i].memory, regions_[i].states.size() * regions_[i].slot_bytes);
      regions_.erase(regions_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

}  // namespace saccade::ingest
