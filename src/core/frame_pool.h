#pragma once
// A fixed number of picture slots, handed out without copying and given back by the last holder.
// Limits: `slots` buffers of `slot_bytes`, allocated once. When all are out, acquire gives nothing
// and counts it: the caller drops (live) or waits (file).
// Threads: any thread may acquire and any thread may drop the last reference. The pool may die
// before its slots do; they keep the memory alive.
#include <cstddef>
#include <cstdint>
#include <memory>

namespace saccade::core {

class FramePool {
 public:
  FramePool(std::size_t slots, std::size_t slot_bytes);

  // A writable slot; publish it by converting to shared_ptr<const uint8_t>. Null when all are out.
  std::shared_ptr<std::uint8_t> acquire();

  std::size_t slots() const;
  std::size_t slot_bytes() const;
  std::size_t free_slots() const;
  // How often acquire found no slot.
  std::uint64_t exhausted() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace saccade::core
