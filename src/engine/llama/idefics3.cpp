#include "engine/llama/idefics3.h"

#include <algorithm>
#include <string>
#include <utility>

namespace saccade::engine::llama {
namespace {

constexpr int kGridTried = 8;  // published vocabularies end at 6

std::string tile_text(int row, int column) {
  return "<row_" + std::to_string(row) + "_col_" + std::to_string(column) + ">";
}

}  // namespace

Idefics3::Idefics3(const Tokenizer& tokenizer)
    : fake_(tokenizer.control("<fake_token_around_image>")),
      global_(tokenizer.control("<global-img>")),
      line_(tokenizer.plain("\n")),
      paragraph_(tokenizer.plain("\n\n")) {
  tiles_.assign(kGridTried, std::vector<TokenId>(kGridTried, -1));
  for (int row = 1; row <= kGridTried; ++row) {
    for (int column = 1; column <= kGridTried; ++column) {
      tiles_[row - 1][column - 1] = tokenizer.control(tile_text(row, column));
    }
  }
  for (int n = 1; n <= kGridTried; ++n) {
    bool whole = true;
    for (int i = 0; i < n; ++i) whole = whole && tiles_[n - 1][i] >= 0 && tiles_[i][n - 1] >= 0;
    if (!whole) break;
    grid_max_ = n;
  }
}

EncodedView Idefics3::wrap(VisualSpanPtr span, ViewPlace place) const {
  const TokenId name = place.global() ? global_ : tiles_[place.row - 1][place.column - 1];
  EncodedView view;
  view.tokens = 2 + span->tokens + (place.global() ? 1 : 0);
  view.segments.emplace_back(std::vector<TokenId>{fake_, name});
  view.segments.emplace_back(std::move(span));
  if (place.global()) view.segments.emplace_back(std::vector<TokenId>{fake_});
  return view;
}

ViewPlace Idefics3::place_of(const EncodedView& view) const {
  const ViewPlace none{-1, 0};
  if (!valid() || view.segments.empty()) return none;
  const auto* head = std::get_if<std::vector<TokenId>>(&view.segments.front());
  if (head == nullptr || head->size() != 2 || (*head)[0] != fake_) return none;
  if ((*head)[1] == global_) return ViewPlace{};
  for (int row = 0; row < grid_max_; ++row) {
    const auto& tokens = tiles_[row];
    const auto it = std::find(tokens.begin(), tokens.end(), (*head)[1]);
    if (it != tokens.end()) return ViewPlace{row + 1, static_cast<int>(it - tokens.begin()) + 1};
  }
  return none;
}

std::vector<TokenId> Idefics3::between(const EncodedView& before, const EncodedView& after) const {
  const ViewPlace a = place_of(before), b = place_of(after);
  if (a.row < 1 || b.row < 0) return {};
  if (b.global()) return paragraph_;
  return a.row == b.row ? std::vector<TokenId>{} : line_;
}

}  // namespace saccade::engine::llama
