#pragma once
// What `serve` checks of its settings before anything is loaded: no server without a lock where
// others can reach it.
#include <string>

#include "core/result.h"
#include "settings.h"
#include "transport/access.h"
#include "transport/serve/http_server.h"

namespace saccade::app {

// Where the admin routes are: "host:port" or the path of a socket. Errors: kUsage (others than this
// machine could reach it).
core::Result<transport::Listen> admin_listen_of(const std::string& text);

// Keys, hosts and origins. Errors: kUsage (key file unreadable or bad; a host that others can
// reach, without a key).
core::Result<transport::AccessRules> access_of(const Settings& settings);

// The model's name for clients: the alias, or the name it gives itself, as one word.
std::string model_name(const std::string& alias, const std::string& own);

}  // namespace saccade::app
