#pragma once
// The body of POST /v1/chat/completions, read once into typed values. What we cannot do is refused
// by name; optional fields that change nothing about the answer (user, metadata, ...) are ignored.
// docs/serve.md lists both. Pure.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "transport/media_data.h"
#include "transport/read_json.h"

namespace saccade::transport {

inline constexpr std::size_t kMessagesMax = 1024;
inline constexpr std::size_t kPartsMax = 1024;  // of one message
inline constexpr int kChoicesMax = 8;
inline constexpr int kVideoPicturesMax = 128;

struct ChatPart {
  enum class Kind { kText, kImage, kAudio, kVideo };
  Kind kind = Kind::kText;
  std::string text;      // kText
  MediaData media;       // the others
  std::string where;     // "messages[0].content[1]", for errors
  double fps = 1;        // kVideo: pictures per second looked at
  int pictures_max = 8;  // kVideo
};

struct ChatMessage {
  enum class Role { kSystem, kUser, kAssistant };
  Role role = Role::kUser;
  std::vector<ChatPart> parts;
};

// Unset = the server's own setting.
struct ChatRequest {
  std::string model;
  std::vector<ChatMessage> messages;
  std::optional<int> max_tokens;
  std::optional<float> temperature, top_p, min_p;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> stops;
  int choices = 1;
  int top_logprobs = 0;  // only with `logprobs`
  bool stream = false, include_usage = false, logprobs = false;
  bool extension = false;  // `saccade`: further counts in the usage
};

// Errors: kUsage, kMediaUnusable, kUnsupported; `fault` then says which field.
core::Result<ChatRequest> parse_chat_request(std::string_view body, std::string& fault);

// The sampling fields shared with questions to a live stream.
void read_sampling(const JsonReader& body, ChatRequest& request);

}  // namespace saccade::transport
