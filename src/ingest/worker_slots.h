#pragma once
// Picture memory shared with the parent, worker side: the reader's PictureSlots. The parent owns
// the memory; when no slot is large enough the worker asks for a region and waits for it.
// One thread. Descriptors of regions are closed as soon as they are mapped.
#include <cstdint>
#include <optional>
#include <vector>

#include "ingest/media_reader.h"
#include "ingest/pass_packet.h"
#include "ingest/worker_protocol.h"

namespace saccade::ingest {

class WorkerSlots final : public PictureSlots {
 public:
  // `control` is borrowed. `waits`: acquire waits for a free slot instead of giving null.
  WorkerSlots(int control, bool waits) : control_(control), waits_(waits) {}
  ~WorkerSlots() override;
  WorkerSlots(const WorkerSlots&) = delete;
  WorkerSlots& operator=(const WorkerSlots&) = delete;

  std::uint8_t* acquire(int width, int height) override;
  // As the parent said last; what it says is heard when a slot is asked for.
  bool key_pictures_only() const override { return key_pictures_only_; }

  struct Place {
    std::uint32_t region = 0, slot = 0;
  };
  // Where `slot` lies, for the parent, who has it from now on. Nothing for foreign memory.
  std::optional<Place> hand_over(const std::uint8_t* slot);

 private:
  enum class SlotState : std::uint8_t { kFree, kFilling, kOut };
  struct Region {
    std::uint32_t id = 0;
    std::uint64_t slot_bytes = 0;
    std::uint8_t* memory = nullptr;
    std::vector<SlotState> states;
    bool idle() const;
  };

  std::uint8_t* take_free(std::uint64_t bytes);
  bool ask_for_region(int width, int height, std::uint64_t bytes);
  // Handles what the parent sent. False when the parent is gone.
  bool hear_parent(Waiting waiting);
  bool map_region(const wire::Region& message, int fd);
  void forget_idle_regions();

  const int control_;
  const bool waits_;
  bool parent_gone_ = false, key_pictures_only_ = false;
  std::vector<Region> regions_;  // the last one is the newest and the largest
};

}  // namespace saccade::ingest
