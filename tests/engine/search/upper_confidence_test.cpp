// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the acquisition with the Gaussian process it comes from, its gradient with finite differences, and
// its maximum with the one that the bayesian-optimization package finds.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <cmath>

#include "ascent.h"
#include "goldens.h"
#include "upper_confidence.h"

namespace draftscope::engine::search {
namespace {

TEST(UpperConfidence, IsTheProcessesMeanAndDeviationInStandardisedUnits) {
  for (const auto& golden : goldens()) {
    SCOPED_TRACE(golden["name"].get<std::string>());
    const auto process = process_of(golden, 0.8);
    const auto points = points_of(golden["queries"]);
    const auto bound = upper_confidence({&process, 2.5}, points).values;
    const auto posterior = process.posterior(points);
    const Eigen::VectorXd raw = posterior.mean + 2.5 * posterior.deviation;
    const Eigen::VectorXd expected = (raw.array() - process.mean()) / process.deviation();
    EXPECT_LE((bound - expected).cwiseAbs().maxCoeff(), 1e-9);
  }
}

TEST(UpperConfidence, HasTheGradientThatDifferencesShow) {
  const double step = 1e-5;
  for (const auto& golden : goldens()) {
    SCOPED_TRACE(golden["name"].get<std::string>());
    const auto process = process_of(golden, 0.8);
    const Acquisition acquisition{&process, 2.5};
    // Avoid observations, where the deviation may have a kink.
    const Eigen::MatrixXd points = points_of(golden["queries"]).leftCols(3);
    const auto gradients = upper_confidence(acquisition, points).gradients;
    for (Eigen::Index i = 0; i < points.rows(); ++i) {
      Eigen::MatrixXd above = points;
      Eigen::MatrixXd below = points;
      above.row(i).array() += step;
      below.row(i).array() -= step;
      const Eigen::VectorXd difference =
          (upper_confidence(acquisition, above).values - upper_confidence(acquisition, below).values) /
          (2.0 * step);
      for (Eigen::Index j = 0; j < points.cols(); ++j)
        EXPECT_NEAR(gradients(i, j), difference[j], 1e-5 * (1.0 + std::abs(difference[j])));
    }
  }
}

TEST(UpperConfidence, IsFiniteAtAnObservationWithoutDoubt) {
  GaussianProcess process(2, 1e-6);
  process.assign(Eigen::MatrixXd::Constant(2, 60, 0.5), Eigen::VectorXd::LinSpaced(60, 0.0, 1.0), 1e5);
  const auto bound = upper_confidence({&process, 2.5}, Eigen::MatrixXd::Constant(2, 1, 0.5));
  EXPECT_TRUE(bound.values.allFinite());
  EXPECT_TRUE(bound.gradients.allFinite());
}

TEST(UpperConfidence, BestOfRandomPointsIsTheBestOfTheVeryPointsDrawn) {
  const auto golden = goldens().back();
  const auto process = process_of(golden, 0.8);
  const Acquisition acquisition{&process, 2.5};
  const SearchStream stream{7, 3};
  constexpr std::int32_t count = 700;  // more than two chunks
  Eigen::MatrixXf points(process.dimension(), count);
  fill_uniform(stream, SearchDraw::screen, 0, points);
  const auto values = upper_confidence(acquisition, points.cast<double>()).values;
  const auto best = best_of_random(acquisition, count, stream);
  EXPECT_GE(upper_confidence(acquisition, best).values[0], values.maxCoeff() - 1e-4);
  EXPECT_EQ((points.cast<double>().colwise() - best).colwise().norm().minCoeff(), 0.0);
}

TEST(UpperConfidence, ReachesTheMaximumThatThePackageReaches) {
  for (const auto& golden : goldens())
    for (const auto& at : golden["at"]) {
      SCOPED_TRACE(fmt::format("{} {}", golden["name"].get<std::string>(), at["length_scale"].get<double>()));
      const auto process = process_of(golden, at["length_scale"].get<double>());
      const Acquisition acquisition{&process, golden["kappa"].get<double>()};
      const SearchStream stream{1, 0};
      Eigen::MatrixXd starts(process.dimension(), 12);
      starts.col(0) = best_of_random(acquisition, 10000, stream);
      Eigen::Index best = 0;
      vector_of(golden["scores"]).maxCoeff(&best);
      starts.col(1) = points_of(golden["points"]).col(best);
      for (Eigen::Index i = 2; i < 12; ++i)
        starts.col(i) =
            uniform_point(stream, SearchDraw::start, static_cast<std::uint32_t>(i), process.dimension());
      const auto maximum = ascend(
          [&](const Eigen::MatrixXd& points) { return upper_confidence(acquisition, points); }, starts);
      EXPECT_GE(maximum.point.minCoeff(), 0.0);
      EXPECT_LE(maximum.point.maxCoeff(), 1.0);
      const double theirs = (at["highest_bound"].get<double>() - process.mean()) / process.deviation();
      EXPECT_GE(maximum.value, theirs - 1e-4 * (1.0 + std::abs(theirs)));
    }
}

// The function is −Σ cᵢ·(xᵢ − mᵢ)². Where its maximum lies outside the box, the nearest face is best.
TEST(Ascent, FindsTheMaximumOfAStretchedParabolaInsideTheBox) {
  const Eigen::VectorXd middle = Eigen::VectorXd::LinSpaced(20, -0.5, 1.5);
  const Eigen::VectorXd curvature = Eigen::VectorXd::LinSpaced(20, 0.0, 3.0).array().exp();
  const auto evaluate = [&](const Eigen::MatrixXd& points) {
    const Eigen::MatrixXd away = points.colwise() - middle;
    return Evaluation{-(away.array().square().matrix().transpose() * curvature),
                      -2.0 * (away.array().colwise() * curvature.array()).matrix()};
  };
  const auto maximum = ascend(evaluate, Eigen::MatrixXd::Constant(20, 1, 0.5));
  EXPECT_LE((maximum.point - middle.cwiseMax(0.0).cwiseMin(1.0)).cwiseAbs().maxCoeff(), 1e-4);
}

TEST(Ascent, StaysWhereNothingRises) {
  const auto flat = [](const Eigen::MatrixXd& points) {
    return Evaluation{Eigen::VectorXd::Ones(points.cols()),
                      Eigen::MatrixXd::Zero(points.rows(), points.cols())};
  };
  const Eigen::MatrixXd start = Eigen::MatrixXd::Constant(3, 1, 0.25);
  EXPECT_EQ(ascend(flat, start).point, start.col(0));
}

}  // namespace
}  // namespace draftscope::engine::search
