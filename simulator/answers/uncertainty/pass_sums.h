// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A setting's statistics as a small dense matrix. A fixed setting uses a few of the many kinds of passes that
// prices know, and its time is a product with only those.

#include <draftscope/simulator/answers/prediction.h>
#include <Eigen/Core>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::simulator {

/// Kind of a pass. Exit 0: rows 0 is a round with a draft, 1 a target step with its round. Other exits: rows
/// 1 is a draft step, more a verification, and minus a row step what is only planned beyond it. Exit -1:
/// auxiliary pass number `rows`; -2: nanoseconds of the host.
struct PassKind {
  std::int32_t exit = 0;
  std::int32_t rows = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of a rewritten comparison for a pointer.
  friend auto operator<=>(const PassKind&, const PassKind&) = default;
};

struct PassSums {
  std::vector<PassKind> kinds;  ///< Ascending.
  Eigen::MatrixXd sums;         ///< [request][2 · kind]: passes, then contexts
};

/// Sums of the requests with these indices, for those kinds that occur in any of them.
[[nodiscard]] PassSums pass_sums(std::span<const RoundStatistics> statistics,
                                 std::span<const std::size_t> requests);
[[nodiscard]] PassSums pass_sums(std::span<const PassCount> vanilla, std::span<const std::size_t> requests);

/// [2 · kind]: ns per pass, then ns per context row.
[[nodiscard]] Eigen::VectorXd price_vector(const Prices& prices, std::span<const PassKind> kinds);

/// [draw][2 · kind] of draws 0 … `draws` − 1.
[[nodiscard]] Eigen::MatrixXd price_matrix(const PriceDraws& draws, PriceSources vary, std::size_t count,
                                           std::span<const PassKind> kinds, std::size_t threads);

/// [draw][request]: how often each request was taken.
[[nodiscard]] Eigen::MatrixXd count_matrix(std::uint64_t seed, std::size_t draws, std::size_t requests);

/// Checks what predict_speedup() is given, and that the prices and their first draw cover it.
[[nodiscard]] Result<void> check_setting(std::span<const PassCount> vanilla, const SettingRounds& setting,
                                         const PricedMachine& machine, const PredictionOptions& options);

/// Indices of the requests that emitted a token in a round.
[[nodiscard]] std::vector<std::size_t> requests_with_tokens(std::span<const PassCount> vanilla);

/// Whether all are positive and finite.
[[nodiscard]] bool is_time(const Eigen::Ref<const Eigen::ArrayXd>& times);

}  // namespace draftscope::simulator
