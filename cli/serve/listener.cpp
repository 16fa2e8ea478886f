// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/listener.h"

#include <draftscope/base/number.h>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "serve/reply.h"

namespace draftscope::cli {

namespace {

using SteadyClock = std::chrono::steady_clock;

/// Interval between looks at whether the server ends.
constexpr std::chrono::milliseconds end_poll{100};

/// Socket of the request that this thread answers.
thread_local socket_t answered_socket = -1;

/// Which of the events a socket has, after at most so long.
short events_of(socket_t socket, int events, std::chrono::milliseconds max_wait) {
  pollfd polled{.fd = socket, .events = static_cast<short>(events), .revents = 0};
  return ::poll(&polled, 1, static_cast<int>(max_wait.count())) > 0 ? polled.revents : short{0};
}

bool has_left(socket_t socket) {
  return events_of(socket, POLLRDHUP, std::chrono::milliseconds(0)) != 0;
}

void address_of(int (*get_name)(int, sockaddr*, socklen_t*), socket_t socket, std::string& ip, int& port) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> service{};
  if (get_name(socket, reinterpret_cast<sockaddr*>(&address), &bytes) != 0 ||
      ::getnameinfo(reinterpret_cast<sockaddr*>(&address), bytes, host.data(), host.size(), service.data(),
                    service.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return;
  ip = host.data();
  port = parse_number<int>(service.data()).value_or(0);
}

enum class Head { whole, too_large, late, none };

/// Bytes of one client. What was read of the head comes first.
class ClientStream final : public httplib::Stream {
 public:
  explicit ClientStream(socket_t socket) : socket_(socket) {}

  /// Takes bytes up to the end of the head, in the time that a head has.
  Head read_head(const Listener& listener) {
    const auto deadline = SteadyClock::now() + max_silence;
    while (!listener.is_ending() && SteadyClock::now() < deadline) {
      if (events_of(socket_, POLLIN, end_poll) == 0) continue;
      std::array<char, 4096> bytes;
      const ssize_t size = ::recv(socket_, bytes.data(), bytes.size(), 0);
      if (size <= 0) return Head::none;
      const std::size_t before = begun_.size();
      begun_.append(bytes.data(), static_cast<std::size_t>(size));
      const std::size_t end = begun_.find("\n\r\n", before < 2 ? 0 : before - 2);
      const std::string_view head = std::string_view(begun_).substr(0, end);
      if (head.size() > max_head_bytes ||
          static_cast<std::size_t>(std::count(head.begin(), head.end(), '\n')) > max_head_lines)
        return Head::too_large;
      if (end != std::string::npos) return Head::whole;
    }
    return Head::late;
  }

  [[nodiscard]] bool is_readable() const override {
    return taken_ < begun_.size() || events_of(socket_, POLLIN, max_silence) != 0;
  }
  [[nodiscard]] bool is_writable() const override {
    return (events_of(socket_, POLLOUT, max_silence) & POLLOUT) != 0 && !has_left(socket_);
  }
  ssize_t read(char* to, std::size_t size) override {
    if (taken_ < begun_.size()) {
      const std::size_t taken = begun_.copy(to, size, taken_);
      taken_ += taken;
      return static_cast<ssize_t>(taken);
    }
    return is_readable() ? ::recv(socket_, to, size, 0) : -1;
  }
  ssize_t write(const char* from, std::size_t size) override {
    return is_writable() ? ::send(socket_, from, size, MSG_NOSIGNAL) : -1;
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    address_of(::getpeername, socket_, ip, port);
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    address_of(::getsockname, socket_, ip, port);
  }
  [[nodiscard]] socket_t socket() const override { return socket_; }

 private:
  socket_t socket_;
  std::string begun_;
  std::size_t taken_ = 0;
};

/// Answers a head that the library never sees.
void refuse_head(ClientStream& stream, Head head) {
  const bool is_late = head == Head::late;
  const std::string body =
      is_late
          ? error_reply(408, fmt::format("the head of the request has no end after {} s, expected it by then",
                                         max_silence.count()))
          : error_reply(431, fmt::format("the request has a longer head than {} bytes or {} lines, expected "
                                         "at most those",
                                         max_head_bytes, max_head_lines));
  const std::string answer = fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      is_late ? "408 Request Timeout" : "431 Request Header Fields Too Large", body.size(), body);
  (void)stream.write(answer.data(), answer.size());
}

/// Closes. Bytes that nobody read would make the kernel drop the answer, so some of them are taken.
void close_gently(socket_t socket) {
  constexpr std::chrono::milliseconds max_pause{200};
  constexpr int max_reads = 256;
  ::shutdown(socket, SHUT_WR);
  std::array<char, 4096> bytes;
  for (int reads = 0; reads < max_reads && events_of(socket, POLLIN, max_pause) != 0; ++reads)
    if (::recv(socket, bytes.data(), bytes.size(), 0) <= 0) break;
  ::close(socket);
}

}  // namespace

bool Listener::client_has_left() {
  return answered_socket >= 0 && has_left(answered_socket);
}

bool Listener::process_and_close_socket(socket_t socket) {
  ClientStream stream(socket);
  const Head head = stream.read_head(*this);
  bool is_answered = false;
  if (head == Head::whole) {
    answered_socket = socket;
    bool is_closed = false;
    is_answered = process_request(stream, true, is_closed, nullptr);
    answered_socket = -1;
  } else if (head != Head::none && !is_ending()) {
    refuse_head(stream, head);
  }
  close_gently(socket);
  return is_answered;
}

}  // namespace draftscope::cli
