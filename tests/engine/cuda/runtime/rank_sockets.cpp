// SPDX-License-Identifier: GPL-3.0-or-later
#include "rank_sockets.h"

#include <draftscope/base/to_size.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

namespace draftscope::cuda_stand_in {

namespace {

constexpr int wait_ms = 30'000;

/// The start of each exchange.
struct Heading {
  std::int64_t number = 0;
  std::uint64_t bytes = 0;
};

/// A name that is in no folder and goes with its socket.
sockaddr_un address_of(const std::string& name, socklen_t& length) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), std::min(name.size(), sizeof address.sun_path - 1));
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

Result<void> send_all(const Socket& socket, std::span<const std::byte> bytes, std::int32_t to) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return fail("rank {} has ended", to);
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<void> receive_all(const Socket& socket, std::span<std::byte> bytes, std::int32_t from) {
  while (!bytes.empty()) {
    const ssize_t received = ::recv(socket.descriptor(), bytes.data(), bytes.size(), 0);
    if (received <= 0) return fail("rank {} has ended", from);
    bytes = bytes.subspan(static_cast<std::size_t>(received));
  }
  return {};
}

template <typename T>
Result<void> send_value(const Socket& socket, const T& value, std::int32_t to) {
  return send_all(socket, std::as_bytes(std::span(&value, 1)), to);
}

template <typename T>
Result<T> receive_value(const Socket& socket, std::int32_t from) {
  T value{};
  DRAFTSCOPE_TRY(receive_all(socket, std::as_writable_bytes(std::span(&value, 1)), from));
  return value;
}

}  // namespace

Socket::Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}
Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<MeetingSocket> open_meeting() {
  std::random_device random;
  MeetingSocket meeting{fmt::format("draftscope-ranks-{}-{:x}{:x}", ::getpid(), random(), random()),
                        Socket(::socket(AF_UNIX, SOCK_STREAM, 0))};
  socklen_t length = 0;
  const sockaddr_un address = address_of(meeting.name, length);
  constexpr int waiting = 64;
  if (meeting.listening.descriptor() < 0 ||
      ::bind(meeting.listening.descriptor(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      ::listen(meeting.listening.descriptor(), waiting) != 0)
    return fail("a socket for ranks to meet: {}", std::strerror(errno));
  return meeting;
}

Result<RankSockets> RankSockets::receive(Socket listening, std::int32_t size) {
  RankSockets made;
  made.others_.resize(to_size(size) - 1);
  for (std::int32_t come = 1; come < size; ++come) {
    pollfd event{listening.descriptor(), POLLIN, 0};
    if (::poll(&event, 1, wait_ms) <= 0) return fail("{} of {} ranks did not come", size - come, size);
    Socket other(::accept(listening.descriptor(), nullptr, nullptr));
    DRAFTSCOPE_TRY_ASSIGN(const auto rank, receive_value<std::int32_t>(other, come));
    if (rank < 1 || rank >= size || made.others_[to_size(rank) - 1].descriptor() >= 0)
      return fail("a second rank {}, expected one each of 1 to {}", rank, size - 1);
    made.others_[to_size(rank) - 1] = std::move(other);
  }
  for (std::int32_t rank = 1; rank < size; ++rank)
    DRAFTSCOPE_TRY(send_value(made.others_[to_size(rank) - 1], size, rank));
  return made;
}

Result<RankSockets> RankSockets::join(const std::string& name, std::int32_t rank, std::int32_t size) {
  RankSockets made;
  made.rank_ = rank;
  made.others_.emplace_back(::socket(AF_UNIX, SOCK_STREAM, 0));
  const Socket& first = made.others_.front();
  socklen_t length = 0;
  const sockaddr_un address = address_of(name, length);
  if (::connect(first.descriptor(), reinterpret_cast<const sockaddr*>(&address), length) != 0)
    return fail("rank 0 is not there: {}", std::strerror(errno));
  DRAFTSCOPE_TRY(send_value(first, rank, 0));
  DRAFTSCOPE_TRY_ASSIGN(const auto found, receive_value<std::int32_t>(first, 0));
  if (found != size) return fail("rank 0 has {} ranks, expected {}", found, size);
  return made;
}

Result<std::vector<std::byte>> RankSockets::exchange(std::span<const std::byte> own) {
  const Heading heading{++exchanges_, own.size()};
  if (rank_ != 0) {
    const Socket& first = others_.front();
    DRAFTSCOPE_TRY(send_value(first, heading, 0));
    DRAFTSCOPE_TRY(send_all(first, own, 0));
    DRAFTSCOPE_TRY_ASSIGN(const auto whole, receive_value<Heading>(first, 0));
    std::vector<std::byte> all(whole.bytes);
    DRAFTSCOPE_TRY(receive_all(first, all, 0));
    return all;
  }
  std::vector<std::byte> all(own.begin(), own.end());
  for (std::size_t i = 0; i < others_.size(); ++i) {
    const auto rank = static_cast<std::int32_t>(i) + 1;
    DRAFTSCOPE_TRY_ASSIGN(const auto found, receive_value<Heading>(others_[i], rank));
    if (found.number != heading.number || found.bytes != heading.bytes)
      return fail("rank {} exchanges {} bytes as number {}, expected {} as number {}", rank, found.bytes,
                  found.number, heading.bytes, heading.number);
    all.resize(all.size() + own.size());
    DRAFTSCOPE_TRY(receive_all(others_[i], std::span(all).last(own.size()), rank));
  }
  for (std::size_t i = 0; i < others_.size(); ++i) {
    const auto rank = static_cast<std::int32_t>(i) + 1;
    DRAFTSCOPE_TRY(send_value(others_[i], Heading{heading.number, all.size()}, rank));
    DRAFTSCOPE_TRY(send_all(others_[i], all, rank));
  }
  return all;
}

}  // namespace draftscope::cuda_stand_in
