// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/to_size.h>
#include <draftscope/engine/ranks/mpi_ranks.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "mpi_beats.h"
#include "mpi_call.h"
#include "rank_watch.h"

namespace draftscope::engine {
namespace {

/// A count of MPI is an int: more goes in several calls.
constexpr std::size_t max_call_bytes = std::size_t{1} << 30;
static_assert(max_call_bytes <= std::numeric_limits<int>::max());

/// Waits without taking the processor from others for long: between commands rank 0 may have much to do.
Result<void> wait_for(MPI_Request& request, std::string_view operation) {
  using clock = std::chrono::steady_clock;
  constexpr auto busy = std::chrono::milliseconds(2);
  constexpr auto nap = std::chrono::microseconds(50);
  const auto begin = clock::now();
  for (;;) {
    int done = 0;
    DRAFTSCOPE_TRY(checked(MPI_Test(&request, &done, MPI_STATUS_IGNORE), operation));
    if (done != 0) return {};
    if (clock::now() - begin > busy) std::this_thread::sleep_for(nap);
  }
}

/// Tells the watch that the others must work meanwhile.
class AwaitedWork {
 public:
  explicit AwaitedWork(RankWatch* watch) : watch_(watch) {
    if (watch_ != nullptr) watch_->expect_work(true);
  }
  AwaitedWork(const AwaitedWork&) = delete;
  AwaitedWork& operator=(const AwaitedWork&) = delete;
  ~AwaitedWork() {
    if (watch_ != nullptr) watch_->expect_work(false);
  }

 private:
  RankWatch* watch_;
};

class MpiRank final : public Collective {
 public:
  MpiRank(std::int32_t rank, std::int32_t size, std::int32_t local_rank)
      : rank_(rank), size_(size), local_rank_(local_rank) {}
  MpiRank(const MpiRank&) = delete;
  MpiRank& operator=(const MpiRank&) = delete;
  ~MpiRank() override {
    if (!has_concluded_) {
      watch_.reset();
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (watch_) watch_->finish();
    MPI_Finalize();
  }

  Result<void> watch(const HangLimit& limit) {
    DRAFTSCOPE_TRY_ASSIGN(auto beats, make_mpi_beats(rank_, size_));
    watch_ =
        std::make_unique<RankWatch>(rank_, size_, std::int64_t{limit.seconds} * 1'000'000'000,
                                    std::move(beats), [on_hang = limit.on_hang](const std::string& line) {
                                      on_hang(line);
                                      MPI_Abort(MPI_COMM_WORLD, 1);
                                    });
    return {};
  }

  std::int32_t rank() const override { return rank_; }
  std::int32_t size() const override { return size_; }
  std::int32_t local_rank() const override { return local_rank_; }
  void conclude() override { has_concluded_ = !reason_; }
  void give_up(Error reason) override { reason_ = std::move(reason); }
  bool has_concluded() const override { return has_concluded_; }

  Result<void> all_reduce(std::span<float> values) override {
    DRAFTSCOPE_TRY(expect_part());
    const AwaitedWork awaited(watch_.get());
    constexpr std::size_t most = max_call_bytes / sizeof(float);
    for (std::size_t first = 0; first < values.size(); first += most)
      DRAFTSCOPE_TRY(add(values.subspan(first, std::min(most, values.size() - first))));
    return {};
  }

  Result<void> broadcast(std::span<std::byte> bytes) override {
    DRAFTSCOPE_TRY(expect_part());
    for (std::size_t first = 0; first < bytes.size(); first += max_call_bytes) {
      const std::span<std::byte> part = bytes.subspan(first, std::min(max_call_bytes, bytes.size() - first));
      MPI_Request request = MPI_REQUEST_NULL;
      DRAFTSCOPE_TRY(checked(
          MPI_Ibcast(part.data(), static_cast<int>(part.size()), MPI_BYTE, 0, MPI_COMM_WORLD, &request),
          "broadcast"));
      DRAFTSCOPE_TRY(wait_for(request, "broadcast"));
    }
    return {};
  }

  Result<void> gather(std::span<const std::byte> own, std::span<std::byte> all) override {
    DRAFTSCOPE_TRY(expect_part());
    // One rank's bytes stay behind another's however many calls it takes.
    if (own.size() > max_call_bytes)
      return fail("gather: found {} bytes, expected at most {}", own.size(), max_call_bytes);
    const auto n = static_cast<int>(own.size());
    std::optional<AwaitedWork> awaited;
    if (rank_ == 0) awaited.emplace(watch_.get());
    return checked(MPI_Gather(own.data(), n, MPI_BYTE, all.data(), n, MPI_BYTE, 0, MPI_COMM_WORLD), "gather");
  }

 private:
  Result<void> expect_part() const {
    if (!reason_) return {};
    return tl::unexpected(*reason_);
  }

  Result<void> add(std::span<float> values) {
    return (size_ & (size_ - 1)) == 0 ? exchange_in_pairs(values) : add_all(values);
  }

  /// Ranks that differ in one bit of their number swap sums: both add the same two, whose order shows in no
  /// bit.
  Result<void> exchange_in_pairs(std::span<float> values) {
    const auto n = static_cast<int>(values.size());
    other_.resize(std::max(other_.size(), values.size()));
    for (std::int32_t step = 1; step < size_; step *= 2) {
      DRAFTSCOPE_TRY(checked(MPI_Sendrecv(values.data(), n, MPI_FLOAT, rank_ ^ step, step, other_.data(), n,
                                          MPI_FLOAT, rank_ ^ step, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                             "all-reduce"));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += other_[i];
    }
    return {};
  }

  /// Every rank adds what all have, in the one order.
  Result<void> add_all(std::span<float> values) {
    const auto n = static_cast<int>(values.size());
    other_.resize(std::max(other_.size(), values.size() * to_size(size_)));
    DRAFTSCOPE_TRY(
        checked(MPI_Allgather(values.data(), n, MPI_FLOAT, other_.data(), n, MPI_FLOAT, MPI_COMM_WORLD),
                "all-reduce"));
    add_neighbours(other_.data(), size_, n, n);
    std::copy_n(other_.begin(), values.size(), values.begin());
    return {};
  }

  std::int32_t rank_;
  std::int32_t size_;
  std::int32_t local_rank_;
  bool has_concluded_ = false;
  std::optional<Error> reason_;       // it gave up for; none = it takes part
  std::vector<float> other_;          // what came from others
  std::unique_ptr<RankWatch> watch_;  // null: nobody watches
};

/// This process's place among those of its machine.
Result<int> local_rank() {
  MPI_Comm machine = MPI_COMM_NULL;
  int rank = 0;
  DRAFTSCOPE_TRY(checked(
      MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine), "start"));
  MPI_Comm_rank(machine, &rank);
  MPI_Comm_free(&machine);
  return rank;
}

}  // namespace

Result<std::unique_ptr<Collective>> join_mpi_ranks(std::int32_t expected, const HangLimit& limit) {
  const bool watches = limit.seconds > 0 && expected > 1;
  const int wanted = watches ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
  int given = 0;
  DRAFTSCOPE_TRY(checked(MPI_Init_thread(nullptr, nullptr, wanted, &given), "start"));
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (size != expected || given < wanted) {
    MPI_Finalize();
    if (size != expected)
      return fail("ranks: found a job of size {}, expected {} (mpirun -n {})", size, expected, expected);
    return fail("ranks: found an MPI of thread level {}, expected {}{}", given,
                watches ? "MPI_THREAD_MULTIPLE" : "MPI_THREAD_FUNNELED",
                watches ? ", or no watch for ranks that hang" : "");
  }
  DRAFTSCOPE_TRY_ASSIGN(const int local, local_rank());
  auto own = std::make_unique<MpiRank>(rank, size, local);
  if (watches) DRAFTSCOPE_TRY(own->watch(limit));
  return own;
}

}  // namespace draftscope::engine
