#include "core/frame_pool.h"

#include <mutex>
#include <vector>

namespace saccade::core {

struct FramePool::State {
  std::size_t slot_bytes = 0;
  std::vector<std::unique_ptr<std::uint8_t[]>> memory;
  std::mutex mutex;  // guards the rest
  std::vector<std::uint8_t*> free;
  std::uint64_t exhausted = 0;
};

FramePool::FramePool(std::size_t slots, std::size_t slot_bytes)
    : state_(std::make_shared<State>()) {
  state_->slot_bytes = slot_bytes;
  for (std::size_t i = 0; i < slots; ++i) {
    state_->memory.push_back(std::make_unique<std::uint8_t[]>(slot_bytes));
    state_->free.push_back(state_->memory.back().get());
  }
}

std::shared_ptr<std::uint8_t> FramePool::acquire() {
  std::uint8_t* slot = nullptr;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->free.empty()) {
      ++state_->exhausted;
      return nullptr;
    }
    slot = state_->free.back();
    state_->free.pop_back();
  }
  return {slot, [state = state_](std::uint8_t* p) {
            const std::lock_guard lock(state->mutex);
            state->free.push_back(p);
          }};
}

std::size_t FramePool::slots() const { return state_->memory.size(); }

std::size_t FramePool::slot_bytes() const { return state_->slot_bytes; }

std::size_t FramePool::free_slots() const {
  const std::lock_guard lock(state_->mutex);
  return state_->free.size();
}

std::uint64_t FramePool::exhausted() const {
  const std::lock_guard lock(state_->mutex);
  return state_->exhausted;
}

}  // namespace saccade::core
