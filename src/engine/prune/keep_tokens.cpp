#include "engine/prune/keep_tokens.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/rng.h"

namespace saccade::engine::prune {
namespace {

constexpr int kBlocksPerSide = 3;  // the picture's blocks that keep at least one token each

// Rows of unit length, so that a product is a cosine.
std::vector<float> directions(const VisualSpan& span) {
  std::vector<float> out = span.embeddings;
  const auto width = static_cast<std::size_t>(span.width);
  for (std::size_t t = 0; t < static_cast<std::size_t>(span.tokens); ++t) {
    float* row = out.data() + t * width;
    double squares = 0;
    for (std::size_t i = 0; i < width; ++i) squares += static_cast<double>(row[i]) * row[i];
    const auto scale = static_cast<float>(1.0 / std::sqrt(std::max(squares, 1e-30)));
    for (std::size_t i = 0; i < width; ++i) row[i] *= scale;
  }
  return out;
}

float cosine(const std::vector<float>& rows, int width, int a, int b) {
  const float* x = rows.data() + static_cast<std::ptrdiff_t>(a) * width;
  const float* y = rows.data() + static_cast<std::ptrdiff_t>(b) * width;
  float sum = 0;
  for (int i = 0; i < width; ++i) sum += x[i] * y[i];
  return sum;
}

// 1 - cosine to the mean direction: far from the mean is worth keeping.
std::vector<float> distinctness(const std::vector<float>& rows, int tokens, int width) {
  std::vector<double> mean(static_cast<std::size_t>(width), 0.0);
  for (int t = 0; t < tokens; ++t) {
    for (int i = 0; i < width; ++i) {
      mean[static_cast<std::size_t>(i)] += rows[static_cast<std::size_t>(t) * width + i];
    }
  }
  double squares = 0;
  for (const double m : mean) squares += m * m;
  const double length = std::sqrt(std::max(squares, 1e-30));
  std::vector<float> out;
  for (int t = 0; t < tokens; ++t) {
    double sum = 0;
    for (int i = 0; i < width; ++i) {
      sum += mean[static_cast<std::size_t>(i)] * rows[static_cast<std::size_t>(t) * width + i];
    }
    out.push_back(static_cast<float>(1.0 - sum / length));
  }
  return out;
}

float quantile(std::vector<float> values, float q) {
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<float>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

// The choice under way: who is in, who may not be, and how near everybody is to those in.
class Choice {
 public:
  Choice(const VisualSpan& span, int wanted)
      : rows_(directions(span)),
        width_(span.width),
        wanted_(wanted),
        in_(static_cast<std::size_t>(span.tokens), false),
        out_(static_cast<std::size_t>(span.tokens), false),
        nearest_(static_cast<std::size_t>(span.tokens), -2.0F) {}

  const std::vector<float>& rows() const { return rows_; }
  bool full() const { return count_ >= wanted_; }
  void drop(int token) { out_[static_cast<std::size_t>(token)] = true; }
  void add(int token) {
    auto in = in_.begin() + token;
    if (full() || *in) return;
    *in = true;
    ++count_;
    for (int t = 0; t < static_cast<int>(nearest_.size()); ++t) {
      auto& nearest = nearest_[static_cast<std::size_t>(t)];
      nearest = std::max(nearest, cosine(rows_, width_, t, token));
    }
  }
  // Fills up with the token that is least like those in; dropped ones only when nothing else is
  // left.
  void fill() {
    while (!full()) {
      int best = -1;
      for (int t = 0; t < static_cast<int>(in_.size()); ++t) {
        if (in_[static_cast<std::size_t>(t)]) continue;
        if (best < 0 || rank(t) < rank(best)) best = t;
      }
      add(best);
    }
  }
  std::vector<int> kept() const {
    std::vector<int> out;
    for (int t = 0; t < static_cast<int>(in_.size()); ++t) {
      if (in_[static_cast<std::size_t>(t)]) out.push_back(t);
    }
    return out;
  }

 private:
  // Smaller is better.
  std::pair<bool, float> rank(int token) const {
    return {out_[static_cast<std::size_t>(token)], nearest_[static_cast<std::size_t>(token)]};
  }

  std::vector<float> rows_;
  int width_, wanted_, count_ = 0;
  std::vector<bool> in_, out_;
  std::vector<float> nearest_;
};

// Tokens from best to worst by score; equal ones in reading order.
std::vector<int> ranked(const std::vector<float>& score) {
  std::vector<int> out(score.size());
  std::iota(out.begin(), out.end(), 0);
  std::stable_sort(out.begin(), out.end(), [&](int a, int b) {
    return score[static_cast<std::size_t>(a)] > score[static_cast<std::size_t>(b)];
  });
  return out;
}

int block_of(const VisualSpan& span, int token) {
  const int columns = std::max(span.columns, 1);
  const int rows = std::max(span.tokens / columns, 1);
  return token / columns * kBlocksPerSide / rows * kBlocksPerSide +
         token % columns * kBlocksPerSide / columns;
}

std::vector<int> salient(const VisualSpan& span, const KeepOptions& options, int wanted) {
  Choice choice(span, wanted);
  for (const int token : options.always) choice.add(token);
  const auto distinct = distinctness(choice.rows(), span.tokens, span.width);
  const auto order = ranked(distinct);
  if (span.columns > 0 && wanted >= kBlocksPerSide * kBlocksPerSide) {
    std::vector<bool> served(static_cast<std::size_t>(kBlocksPerSide) * kBlocksPerSide, false);
    for (const int token : order) {
      auto done = served.begin() + block_of(span, token);
      if (!*done) choice.add(token);
      *done = true;
    }
  }
  const bool probed = static_cast<int>(span.received.size()) == span.tokens;
  const auto& received = probed ? span.received : distinct;
  const float distinct_high = quantile(distinct, options.high);
  const float distinct_low = quantile(distinct, options.low);
  const float received_high = quantile(received, options.high);
  const float received_low = quantile(received, options.low);
  for (const int token : order) {
    const auto t = static_cast<std::size_t>(token);
    const bool looked_at =
        probed && received[t] > received_high && span.spread[t] <= options.spread_max;
    if (distinct[t] >= distinct_high || looked_at) {
      choice.add(token);
    } else if (distinct[t] < distinct_low && received[t] < received_low) {
      choice.drop(token);
    }
  }
  choice.fill();
  return choice.kept();
}

std::vector<int> uniform(int tokens, int wanted) {
  std::vector<int> out(static_cast<std::size_t>(std::max(wanted, 0)));
  for (int i = 0; i < wanted; ++i) out[static_cast<std::size_t>(i)] = i * tokens / wanted;
  return out;
}

std::vector<int> drawn(int tokens, int wanted, std::uint64_t seed) {
  core::Rng rng(seed);
  std::vector<int> out(static_cast<std::size_t>(tokens));
  std::iota(out.begin(), out.end(), 0);
  for (int i = tokens - 1; i > 0; --i) {
    std::swap(out[static_cast<std::size_t>(i)], out[static_cast<std::size_t>(rng.between(0, i))]);
  }
  out.resize(static_cast<std::size_t>(wanted));
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

int keep_count(int tokens, float share) {
  const int wanted = static_cast<int>(std::ceil(share * static_cast<float>(tokens)));
  return std::clamp((wanted + kKeepStep - 1) / kKeepStep * kKeepStep, 1, tokens);
}

core::Result<std::vector<int>> keep_tokens(const VisualSpan& span, const KeepOptions& options) {
  if (!(options.share > 0 && options.share <= 1)) {
    return core::error(core::ErrorCode::kUsage, "a share of " + std::to_string(options.share) +
                                                    " of the visual tokens (allowed above 0 to 1)");
  }
  for (const int token : options.always) {
    if (token < 0 || token >= span.tokens) {
      return core::error(core::ErrorCode::kUsage, "visual token " + std::to_string(token) +
                                                      " (allowed 0.." +
                                                      std::to_string(span.tokens - 1) + ")");
    }
  }
  const int wanted = keep_count(span.tokens, options.share);
  if (wanted == span.tokens) return uniform(span.tokens, span.tokens);
  if (options.method == KeepMethod::kUniform) return uniform(span.tokens, wanted);
  if (options.method == KeepMethod::kRandom) return drawn(span.tokens, wanted, options.seed);
  return salient(span, options, wanted);
}

VisualSpanPtr reduce_span(const VisualSpanPtr& span, const std::vector<int>& kept) {
  if (static_cast<int>(kept.size()) == span->tokens) return span;
  auto out = std::make_shared<VisualSpan>();
  out->width = span->width;
  out->whole = span->tokens;
  out->columns = span->columns;
  out->tokens = static_cast<int>(kept.size());
  out->kept = kept;
  const auto width = static_cast<std::ptrdiff_t>(span->width);
  for (const int token : kept) {
    const auto from = span->embeddings.begin() + token * width;
    out->embeddings.insert(out->embeddings.end(), from, from + width);
  }
  return out;
}

core::Result<EncodedViewPtr> reduce_view(const EncodedViewPtr& view, const KeepOptions& options) {
  auto out = std::make_shared<EncodedView>();
  for (const auto& segment : view->segments) {
    const auto* span = std::get_if<VisualSpanPtr>(&segment);
    if (span == nullptr) {
      out->segments.push_back(segment);
      out->tokens += static_cast<int>(std::get<std::vector<TokenId>>(segment).size());
      continue;
    }
    const auto kept = keep_tokens(**span, options);
    if (!kept) return kept.error();
    auto reduced = reduce_span(*span, *kept);
    out->tokens += reduced->tokens;
    out->segments.emplace_back(std::move(reduced));
  }
  return EncodedViewPtr(std::move(out));
}

}  // namespace saccade::engine::prune
