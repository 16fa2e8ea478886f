// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The library's server with what it leaves open: bounds of a request's head, and a look at whether a client
// is still there.

#include <httplib.h>
#include <chrono>
#include <cstddef>

namespace draftscope::cli {

/// Maximum bytes of a request's first line and headers together.
inline constexpr std::size_t max_head_bytes = std::size_t{16} << 10U;
/// Maximum lines of it.
inline constexpr std::size_t max_head_lines = 128;
/// Time after which a client that neither sends nor takes a byte is given up, and in which a head must come.
inline constexpr std::chrono::seconds max_silence{10};

/// A connection carries one request.
class Listener final : public httplib::Server {
 public:
  /// Whether stop() was called; is_running() holds until every thread has ended.
  [[nodiscard]] bool is_ending() const { return svr_sock_ == INVALID_SOCKET; }
  /// Whether the client whose request the calling thread answers has closed the connection or its side of it.
  [[nodiscard]] static bool client_has_left();

 private:
  bool process_and_close_socket(socket_t socket) override;
};

}  // namespace draftscope::cli
