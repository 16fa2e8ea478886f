// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/to_size.h>
#include <draftscope/engine/ranks/thread_ranks.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

namespace draftscope::engine {
namespace {

/// A rank's call of an operation. Spans are of bytes, whatever is in them.
struct Call {
  std::string_view operation;
  std::span<const std::byte> own;  ///< what the others read
  std::span<std::byte> out;
};

constexpr std::string_view all_reduce_call = "all-reduce";
constexpr std::string_view broadcast_call = "broadcast";
constexpr std::string_view gather_call = "gather";

/// Where the ranks meet. The last one to come does the work of all.
class MeetingPlace {
 public:
  explicit MeetingPlace(std::int32_t size) : calls_(to_size(size)), has_ended_(to_size(size)) {}

  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(calls_.size()); }

  Result<void> meet(std::int32_t rank, const Call& call) {
    std::unique_lock lock(mutex_);
    for (std::size_t other = 0; !failure_ && other < has_ended_.size(); ++other)
      if (has_ended_[other]) fail_all(ended(other, call.operation));
    if (failure_) return tl::unexpected(*failure_);
    calls_[to_size(rank)] = call;
    ++arrived_;
    if (arrived_ == size()) {
      if (auto failure = compare()) {
        fail_all(std::move(*failure));
        return tl::unexpected(*failure_);
      }
      operate();
      arrived_ = 0;
      ++meetings_;
      changed_.notify_all();
      return {};
    }
    const std::int64_t own = meetings_;
    changed_.wait(lock, [&] { return meetings_ != own || failure_; });
    if (meetings_ != own) return {};
    return tl::unexpected(*failure_);
  }

  void leave(std::int32_t rank) {
    const std::lock_guard lock(mutex_);
    has_ended_[to_size(rank)] = true;
    if (arrived_ > 0 && !failure_) fail_all(ended(to_size(rank), "one of its calls"));
  }

 private:
  static Error ended(std::size_t rank, std::string_view operation) {
    return {fmt::format("rank {}: found it ended, expected it to take part in {}", rank, operation)};
  }

  void fail_all(Error failure) {
    failure_ = std::move(failure);
    changed_.notify_all();
  }

  [[nodiscard]] std::optional<Error> compare() const {
    const Call& first = calls_.front();
    for (std::size_t rank = 1; rank < calls_.size(); ++rank) {
      const Call& call = calls_[rank];
      if (call.operation != first.operation || call.own.size() != first.own.size())
        return Error{fmt::format("rank {}: found {} of {} bytes, expected {} of {} as rank 0", rank,
                                 call.operation, call.own.size(), first.operation, first.own.size())};
    }
    return std::nullopt;
  }

  /// Every rank's bytes, one rank's behind another's.
  void collect(void* into, std::size_t bytes) const {
    for (std::size_t rank = 0; rank < calls_.size(); ++rank)
      std::memcpy(static_cast<std::byte*>(into) + rank * bytes, calls_[rank].own.data(), bytes);
  }

  void operate() {
    const Call& first = calls_.front();
    if (first.operation == broadcast_call) {
      for (const Call& call : calls_)
        if (call.out.data() != first.out.data() && !first.own.empty())
          std::memcpy(call.out.data(), first.own.data(), first.own.size());
      return;
    }
    const std::size_t bytes = first.own.size();
    if (bytes == 0) return;
    if (first.operation == gather_call) return collect(first.out.data(), bytes);
    const auto n = static_cast<std::int64_t>(bytes / sizeof(float));
    std::vector<float> values(calls_.size() * bytes / sizeof(float));
    collect(values.data(), bytes);
    add_neighbours(values.data(), size(), n, n);
    for (const Call& call : calls_) std::memcpy(call.out.data(), values.data(), bytes);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Call> calls_;  // of the present meeting
  std::vector<bool> has_ended_;
  std::int32_t arrived_ = 0;
  std::int64_t meetings_ = 0;
  std::optional<Error> failure_;
};

class ThreadRank final : public Collective {
 public:
  ThreadRank(std::shared_ptr<MeetingPlace> place, std::int32_t rank)
      : place_(std::move(place)), rank_(rank) {}
  ThreadRank(const ThreadRank&) = delete;
  ThreadRank& operator=(const ThreadRank&) = delete;
  ~ThreadRank() override { place_->leave(rank_); }

  std::int32_t rank() const override { return rank_; }
  std::int32_t size() const override { return place_->size(); }
  Result<void> all_reduce(std::span<float> values) override {
    return meet({all_reduce_call, std::as_bytes(values), std::as_writable_bytes(values)});
  }
  Result<void> broadcast(std::span<std::byte> bytes) override { return meet({broadcast_call, bytes, bytes}); }
  Result<void> gather(std::span<const std::byte> own, std::span<std::byte> all) override {
    if (rank_ == 0 && all.size() != own.size() * to_size(size()))
      return fail("gather: found room for {} bytes, expected {} of {} ranks", all.size(),
                  own.size() * to_size(size()), size());
    return meet({gather_call, own, all});
  }
  void conclude() override { has_concluded_ = !reason_; }
  bool has_concluded() const override { return has_concluded_; }
  void give_up(Error reason) override {
    reason_ = std::move(reason);
    place_->leave(rank_);
  }

 private:
  Result<void> meet(const Call& call) {
    if (reason_) return tl::unexpected(*reason_);
    return place_->meet(rank_, call);
  }

  std::shared_ptr<MeetingPlace> place_;
  std::int32_t rank_;
  bool has_concluded_ = false;
  std::optional<Error> reason_;  // it gave up for; none = it takes part
};

}  // namespace

std::vector<std::unique_ptr<Collective>> make_thread_ranks(std::int32_t size) {
  const auto place = std::make_shared<MeetingPlace>(size);
  std::vector<std::unique_ptr<Collective>> ranks;
  ranks.reserve(to_size(size));
  for (std::int32_t rank = 0; rank < size; ++rank) ranks.push_back(std::make_unique<ThreadRank>(place, rank));
  return ranks;
}

}  // namespace draftscope::engine
