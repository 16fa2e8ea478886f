// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Names by which a request may call this server. A web page whose name was bound to a loopback address sends
// its own name as `Host`, and every page that posts sends itself as `Origin`.

#include <string>
#include <string_view>
#include <vector>

namespace draftscope::cli {

/// Whether only programs of this machine reach the address.
[[nodiscard]] bool is_loopback(std::string_view host);

/// Whether a client may call the server, or have come from, `host`: a loopback name or one of `names`. Where
/// the server listens on all addresses, also any address, which no page can be bound to, and this machine's
/// name.
[[nodiscard]] bool is_known_host(std::string_view host, const std::vector<std::string>& names);

/// Host of a header's `Host` ("localhost:8080", "[::1]"), in lower case, without port, brackets and last dot.
[[nodiscard]] std::string host_of_authority(std::string_view authority);
/// Host of a header's `Origin` ("https://a.example:8080"); "" = none, as of a page in a sandbox ("null").
[[nodiscard]] std::string host_of_origin(std::string_view origin);

}  // namespace draftscope::cli
