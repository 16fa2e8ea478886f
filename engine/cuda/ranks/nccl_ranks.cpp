// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/to_size.h>
#include <nccl.h>

#include <span>
#include <string_view>
#include <utility>

#include "cuda/ranks/device_ranks.h"
#include "ranks/agreement.h"

namespace draftscope::engine::cuda {
namespace {

/// `group`, perhaps null, knows more of its errors.
Result<void> checked(ncclResult_t status, std::string_view what, ncclComm_t group = nullptr) {
  if (status == ncclSuccess) return {};
  std::string_view detail = ncclGetLastError(group);
  detail = detail.substr(0, detail.find('\n'));
  constexpr std::size_t max_detail = 160;
  return fail("cuda backend: NCCL: {}: {}{}{}", what, ncclGetErrorString(status), detail.empty() ? "" : ": ",
              detail.substr(0, max_detail));
}

class NcclRanks final : public DeviceRanks {
 public:
  explicit NcclRanks(const Collective& ranks) : rank_(ranks.rank()), size_(ranks.size()) {}
  NcclRanks(const NcclRanks&) = delete;
  NcclRanks& operator=(const NcclRanks&) = delete;
  ~NcclRanks() override {
    // Errors have been reported where they arose; there is nobody left to tell.
    if (group_ != nullptr) (void)ncclCommDestroy(group_);
  }

  Result<void> join(const ncclUniqueId& id) {
    ncclComm_t group = nullptr;
    DRAFTSCOPE_TRY(checked(ncclCommInitRank(&group, size_, id, rank_),
                           fmt::format("joining {} ranks as rank {}", size_, rank_)));
    group_ = group;
    return {};
  }

  Result<void> all_gather(void* all, std::size_t bytes, cudaStream_t stream) override {
    if (group_ == nullptr) return gone();
    auto* const places = static_cast<std::byte*>(all);
    return checked(ncclAllGather(places + to_size(rank_) * bytes, places, bytes, ncclUint8, group_, stream),
                   "an exchange between ranks", group_);
  }

  Result<void> check() override {
    if (group_ == nullptr) return gone();
    ncclResult_t found = ncclSuccess;
    DRAFTSCOPE_TRY(checked(ncclCommGetAsyncError(group_, &found), "asking for errors", group_));
    return checked(found, "an exchange between ranks", group_);
  }

  void abort() override {
    if (ncclComm_t group = std::exchange(group_, nullptr); group != nullptr) (void)ncclCommAbort(group);
  }

 private:
  static Result<void> gone() {
    return fail("cuda backend: NCCL: found the exchange between ranks ended, expected it to last");
  }

  std::int32_t rank_;
  std::int32_t size_;
  ncclComm_t group_ = nullptr;  // none: not joined yet, or ended
};

/// Rank 0's name of the group, on every rank.
Result<ncclUniqueId> share_id(Collective& ranks) {
  ncclUniqueId id{};
  Result<void> made;
  if (ranks.rank() == 0) made = checked(ncclGetUniqueId(&id), "naming the group of ranks");
  DRAFTSCOPE_TRY(agree(ranks, made));
  DRAFTSCOPE_TRY(ranks.broadcast(std::as_writable_bytes(std::span(&id, 1))));
  return id;
}

}  // namespace

Result<std::unique_ptr<DeviceRanks>> join_device_ranks(Collective& ranks) {
  DRAFTSCOPE_TRY_ASSIGN(const ncclUniqueId id, share_id(ranks));
  auto joined = std::make_unique<NcclRanks>(ranks);
  DRAFTSCOPE_TRY(joined->join(id));
  return joined;
}

}  // namespace draftscope::engine::cuda
