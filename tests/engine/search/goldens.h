// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reads golden.json into Eigen matrices.

#include <Eigen/Core>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "gaussian_process.h"

namespace draftscope::engine::search {

inline Eigen::VectorXd vector_of(const nlohmann::json& values) {
  const auto list = values.get<std::vector<double>>();
  return Eigen::Map<const Eigen::VectorXd>(list.data(), static_cast<Eigen::Index>(list.size()));
}

/// One column per point.
inline Eigen::MatrixXd points_of(const nlohmann::json& rows) {
  Eigen::MatrixXd points(static_cast<Eigen::Index>(rows.front().size()),
                         static_cast<Eigen::Index>(rows.size()));
  for (Eigen::Index column = 0; column < points.cols(); ++column)
    points.col(column) = vector_of(rows[static_cast<std::size_t>(column)]);
  return points;
}

inline nlohmann::json goldens() {
  std::ifstream file(DRAFTSCOPE_SOURCE_DIR "/tests/engine/search/golden.json");
  return nlohmann::json::parse(file);
}

inline GaussianProcess process_of(const nlohmann::json& golden, std::optional<double> length_scale) {
  const auto points = points_of(golden["points"]);
  GaussianProcess process(points.rows(), golden["noise"].get<double>());
  process.assign(points, vector_of(golden["scores"]), length_scale);
  return process;
}

}  // namespace draftscope::engine::search
