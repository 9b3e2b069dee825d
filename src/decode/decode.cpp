#include "decode/decode.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "decode/match_stop.h"
#include "telemetry/ledger.h"

namespace saccade::decode {
namespace {

// Ways a model may begin its answer. Tokenisers tell " yes" from "yes", so both count.
constexpr std::array kYes{"yes", "Yes", "YES", " yes", " Yes", " YES"};
constexpr std::array kNo{"no", "No", "NO", " no", " No", " NO"};

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

core::Status Decoder::start(const attend::Focus& focus, const engine::SamplingOptions& sampling) {
  const auto prompt = model_->render(focus.turns);
  if (!prompt) return prompt.error();
  prompt_tokens_ = prompt->tokens;
  return model_->start(*prompt, sampling);
}

core::Status Decoder::answer(const attend::Focus& focus, const AnswerOptions& options,
                             const std::function<bool(const Token&)>& on_token) {
  auto stop = StopMatcher::create(options.stops);
  if (!stop) return stop.error();
  int tokens_max = std::clamp(
      focus.knobs ? focus.knobs->max_new_tokens : core::Knobs{}.max_new_tokens, 1, kNewTokensMax);
  Token token;
  token.answer = options.answer;
  token.epoch = focus.time.epoch();

  const core::SteadyTime began = clock_->now();
  FinishReason finish = FinishReason::kLength;
  core::Status status = start(focus, options.sampling);
  // An answer that fills the context is cut like any other long one, not failed.
  if (const int context = model_->traits().context_tokens; context > 0) {
    tokens_max = std::min(tokens_max, std::max(1, context - prompt_tokens_));
  }
  for (int i = 0; i < tokens_max && status.ok(); ++i) {
    auto step = model_->step();
    if (!step) {
      status = step.error();
      break;
    }
    if (step->end) {
      finish = FinishReason::kStop;
      break;
    }
    token.id = step->id;
    token.bytes = std::move(step->bytes);
    token.logprob = step->logprob;
    token.entropy = step->entropy;
    token.alternatives = std::move(step->alternatives);
    token.decode_ms = core::ms_between(began, clock_->now());
    const bool stopped = stop->push(token.bytes);
    const bool wanted = on_token(token);
    if (stopped || !wanted) {
      finish = stopped ? FinishReason::kStop : FinishReason::kCancelled;
      break;
    }
  }
  Token last;
  last.answer = token.answer;
  last.epoch = token.epoch;
  last.decode_ms = core::ms_between(began, clock_->now());
  last.finish = status.ok() ? finish : FinishReason::kError;
  if (!status.ok()) last.error = one_line(status.error().message);
  on_token(last);
  return status;
}

core::Result<Verdict> Decoder::judge(attend::Focus& focus) {
  const telemetry::StageTimer timer(focus.ledger, telemetry::Stage::kDecode, *clock_);
  if (auto status = start(focus, {}); !status) return status.error();
  std::vector<std::string> candidates(kYes.begin(), kYes.end());
  candidates.insert(candidates.end(), kNo.begin(), kNo.end());
  const auto scores = model_->score_first(candidates);
  if (!scores) return scores.error();
  double yes = 0, all = 0;
  for (std::size_t i = 0; i < scores->size(); ++i) {
    const double p = std::exp(static_cast<double>((*scores)[i]));
    all += p;
    if (i < kYes.size()) yes += p;
  }
  if (!(all > 0) || !std::isfinite(all)) {
    return core::error(core::ErrorCode::kNumeric, "the model gives no probability to yes or no");
  }
  Verdict verdict;
  verdict.probability = static_cast<float>(yes / all);
  verdict.yes = verdict.probability >= 0.5F;
  return verdict;
}

}  // namespace saccade::decode
