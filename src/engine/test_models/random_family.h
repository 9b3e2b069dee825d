#pragma once
// For tests: a whole pair of files of one family, small and with random weights, structurally
// exact.
#include <string>
#include <vector>

#include "engine/test_models/random_model.h"

namespace saccade::engine::test {

// Names that write_family knows.
std::vector<std::string> family_names();
// Writes `folder`/model.gguf and `folder`/mmproj.gguf; `class_last` as in TowerFile. Throws
// std::runtime_error for other names.
void write_family(const std::string& folder, const std::string& name,
                  Weights weights = Weights::kF16, bool class_last = false);

}  // namespace saccade::engine::test
