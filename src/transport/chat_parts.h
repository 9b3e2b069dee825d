#pragma once
// What the requests of chats and responses have in common: roles, content, media. Faults are kept
// in the reader. Pure.
#include <functional>

#include "transport/chat_request.h"
#include "transport/read_json.h"

namespace saccade::transport {

// `key`: {"url": ...}, {"data": ...} or a bare string.
void read_medium(const JsonReader& part, const char* key, ChatPart& out);
// `key` must be there.
void read_text(const JsonReader& part, const char* key, ChatPart& out);
// False when `role` is none of system, developer, user, assistant.
bool read_role(const JsonReader& item, ChatMessage& message);
// `content`: a text, or parts of which each is given to `read_part`.
void read_content(const JsonReader& item, ChatMessage& message,
                  const std::function<void(const JsonReader&, ChatMessage&)>& read_part);
// At most kAskMediaMax media in all messages; `key` is where they came from.
void check_media(const JsonReader& body, const char* key, const ChatRequest& request);

}  // namespace saccade::transport
