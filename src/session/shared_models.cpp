#include "session/shared_models.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace saccade::session {
namespace {

// How many tokens a view takes when it is the same for every picture; 0 when it is not.
core::Result<int> measure_view_tokens(engine::VisionEncoder* vision) {
  if (!vision || vision->traits().view_side == 0) return 0;
  const int side = vision->traits().view_side;
  const std::vector<std::uint8_t> grey(static_cast<std::size_t>(side) * side * core::kRgbBytes,
                                       128);
  const core::PixelView view{grey.data(), side, side,
                             static_cast<std::ptrdiff_t>(side) * core::kRgbBytes};
  const auto encoded = vision->encode(view, {});
  if (!encoded) return encoded.error();
  return (*encoded)->tokens;
}

template <typename T>
std::unique_ptr<T> take_last(std::vector<std::unique_ptr<T>>& idle) {
  if (idle.empty()) return nullptr;
  std::unique_ptr<T> out = std::move(idle.back());
  idle.pop_back();
  return out;
}

}  // namespace

SharedModels::SharedModels(LoadedModels loaded, ModelFiles files, const core::Clock& clock)
    : loaded_(std::move(loaded)),
      files_(std::move(files)),
      offers_{.see = loaded_.vision_language.vision != nullptr,
              .read = loaded_.reader != nullptr,
              .hear = loaded_.speech != nullptr},
      device_({.vision = loaded_.vision_language.vision.get(),
               .language = loaded_.vision_language.language.get(),
               .speech = loaded_.speech.get()}),
      governor_(clock) {
  if (loaded_.reader) readers_.push_back(std::move(loaded_.reader));
  if (loaded_.voice) voices_.push_back(std::move(loaded_.voice));
}

core::Result<std::unique_ptr<SharedModels>> SharedModels::create(LoadedModels loaded,
                                                                 ModelFiles files,
                                                                 const core::Clock& clock) {
  std::unique_ptr<SharedModels> shared(
      new SharedModels(std::move(loaded), std::move(files), clock));
  const auto tokens = measure_view_tokens(shared->device_.lend().vision);
  if (!tokens) return tokens.error();
  shared->view_tokens_ = *tokens;
  return shared;
}

engine::LanguageUse SharedModels::language_use() const {
  return loaded_.vision_language.language->use();
}

const engine::LanguageTraits& SharedModels::language() const {
  return loaded_.vision_language.language->traits();
}

core::Result<SharedModels::Loan> SharedModels::lend(const Senses& senses,
                                                    const std::string& owner) {
  if ((senses.see && !offers_.see) || (senses.read && !offers_.read) ||
      (senses.hear && !offers_.hear)) {
    return core::error(core::ErrorCode::kUsage, "this server was started without that sense",
                       "start it with --senses see,read,hear");
  }
  Loan loan(*this);
  if (const auto status = lend_senses(senses, loan); !status) return status.error();
  loan.models_.owner = owner;
  lend_language(loan);
  const Device::Models lent = device_.lend();
  loan.models_ = {.vision = lent.vision,
                  .language = loan.language_ ? loan.language_.get() : lent.language,
                  .reader = loan.reader_.get(),
                  .voice = loan.voice_.get(),
                  .speech = lent.speech,
                  .device = loan.language_ ? nullptr : &device_,
                  .governor = &governor_,
                  .owner = owner,
                  .view_tokens = view_tokens_};
  return loan;
}

core::Status SharedModels::lend_senses(const Senses& senses, Loan& loan) {
  {
    const std::lock_guard lock(mutex_);
    if (senses.read) loan.reader_ = take_last(readers_);
    if (senses.hear) loan.voice_ = take_last(voices_);
  }
  const Senses missing{
      .see = false, .read = senses.read && !loan.reader_, .hear = senses.hear && !loan.voice_};
  if (missing.read || missing.hear) {
    auto opened = load_stream_senses(files_, missing);
    if (!opened) return opened.error();
    if (opened->reader) loan.reader_ = std::move(opened->reader);
    if (opened->voice) loan.voice_ = std::move(opened->voice);
  }
  if (loan.voice_) loan.voice_->reset();
  return {};
}

void SharedModels::lend_language(Loan& loan) {
  const std::lock_guard lock(mutex_);
  const std::string& owner = loan.models_.owner;
  const auto own = std::find_if(languages_.rbegin(), languages_.rend(),
                                [&](const IdleLanguage& idle) { return idle.owner == owner; });
  if (own != languages_.rend()) {
    loan.language_ = std::move(own->model);
    languages_.erase(std::next(own).base());
    return;
  }
  // An engine without further sessions, or with all of them taken, is used by turns.
  auto another = loaded_.vision_language.language->another();
  if (another) {
    loan.language_ = std::move(*another);
  } else if (!languages_.empty()) {
    // The one that was not used for the longest time.
    loan.language_ = std::move(languages_.front().model);
    languages_.erase(languages_.begin());
    loan.language_->forget();
  }
}

SharedModels::Loan::~Loan() {
  if (owner_) owner_->give_back(*this);
}

void SharedModels::give_back(Loan& loan) {
  const std::lock_guard lock(mutex_);
  if (loan.reader_) readers_.push_back(std::move(loan.reader_));
  if (loan.voice_) voices_.push_back(std::move(loan.voice_));
  if (loan.language_) languages_.push_back({loan.models_.owner, std::move(loan.language_)});
}

}  // namespace saccade::session
