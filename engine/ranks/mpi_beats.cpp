// SPDX-License-Identifier: GPL-3.0-or-later
#include "mpi_beats.h"

#include <array>
#include <vector>

#include "mpi_call.h"

namespace draftscope::engine {
namespace {

using Words = std::array<std::int64_t, 2>;

/// Messages to and from a rank. MPI has their addresses while they are under way.
struct Line {
  std::int32_t rank = 0;
  Words sent{};
  Words received{};
  MPI_Request send = MPI_REQUEST_NULL;
  MPI_Request receive = MPI_REQUEST_NULL;
  bool has_ended = false;
};

class MpiBeats final : public BeatCarrier {
 public:
  MpiBeats(MPI_Comm ranks, const std::vector<std::int32_t>& peers) : ranks_(ranks), lines_(peers.size()) {
    for (std::size_t i = 0; i < peers.size(); ++i) lines_[i].rank = peers[i];
  }

  Result<bool> send(std::size_t peer, const Beat& beat) override {
    Line& line = lines_[peer];
    int done = 0;
    DRAFTSCOPE_TRY(checked(MPI_Test(&line.send, &done, MPI_STATUS_IGNORE), beat_name));
    if (done == 0) return false;
    line.sent = {beat.work_ns, beat.is_last};
    DRAFTSCOPE_TRY(checked(MPI_Isend(line.sent.data(), static_cast<int>(line.sent.size()), MPI_INT64_T,
                                     line.rank, 0, ranks_, &line.send),
                           beat_name));
    return true;
  }

  Result<std::optional<Beat>> receive(std::size_t peer) override {
    Line& line = lines_[peer];
    if (line.has_ended) return std::nullopt;
    if (line.receive == MPI_REQUEST_NULL)
      DRAFTSCOPE_TRY(checked(MPI_Irecv(line.received.data(), static_cast<int>(line.received.size()),
                                       MPI_INT64_T, line.rank, 0, ranks_, &line.receive),
                             beat_name));
    int done = 0;
    DRAFTSCOPE_TRY(checked(MPI_Test(&line.receive, &done, MPI_STATUS_IGNORE), beat_name));
    if (done == 0) return std::nullopt;
    const Beat beat{.work_ns = line.received[0], .is_last = line.received[1]};
    line.has_ended = beat.is_last != 0;
    return beat;
  }

 private:
  static constexpr std::string_view beat_name = "sign of life";

  MPI_Comm ranks_;
  std::vector<Line> lines_;  // [peer]
};

}  // namespace

Result<std::unique_ptr<BeatCarrier>> make_mpi_beats(std::int32_t rank, std::int32_t size) {
  MPI_Comm ranks = MPI_COMM_NULL;
  DRAFTSCOPE_TRY(checked(MPI_Comm_dup(MPI_COMM_WORLD, &ranks), "start"));
  return std::make_unique<MpiBeats>(ranks, heard_ranks(rank, size));
}

}  // namespace draftscope::engine
