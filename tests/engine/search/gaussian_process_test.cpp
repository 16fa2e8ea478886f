// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the regression with scikit-learn (golden.json, made by make_golden.py), and with itself where two
// ways must agree.

#include <gtest/gtest.h>
#include <cmath>

#include "gaussian_process.h"
#include "goldens.h"
#include "likelihood.h"

namespace draftscope::engine::search {
namespace {

Evidence golden_evidence(const nlohmann::json& golden) {
  const auto scores = vector_of(golden["scores"]);
  const Eigen::VectorXd centred = scores.array() - scores.mean();
  const double deviation = std::sqrt(centred.squaredNorm() / static_cast<double>(scores.size()));
  return evidence_of(points_of(golden["points"]), centred / (deviation > 1e-12 ? deviation : 1.0),
                     golden["noise"].get<double>());
}

void expect_near(const Eigen::VectorXd& found, const Eigen::VectorXd& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_LE((found - expected).cwiseAbs().maxCoeff(), tolerance) << found.transpose() << "\n"
                                                                 << expected.transpose();
}

TEST(GaussianProcess, PredictsWhatScikitLearnPredicts) {
  for (const auto& golden : goldens()) {
    SCOPED_TRACE(golden["name"].get<std::string>());
    for (const auto& at : golden["at"]) {
      const auto process = process_of(golden, at["length_scale"].get<double>());
      const auto posterior = process.posterior(points_of(golden["queries"]));
      expect_near(posterior.mean, vector_of(at["mean"]), 1e-8);
      expect_near(posterior.deviation, vector_of(at["deviation"]), 1e-8);
      expect_near(posterior.mean + golden["kappa"].get<double>() * posterior.deviation,
                  vector_of(at["upper_bound"]), 1e-8);
    }
  }
}

TEST(Likelihood, IsThatOfScikitLearn) {
  for (const auto& golden : goldens()) {
    SCOPED_TRACE(golden["name"].get<std::string>());
    const auto evidence = golden_evidence(golden);
    for (const auto& at : golden["at"]) {
      const double length_scale = at["length_scale"].get<double>();
      EXPECT_NEAR(log_likelihood(evidence, length_scale), at["log_likelihood"].get<double>(), 1e-7);
    }
  }
}

TEST(Likelihood, FitsALengthScaleNoWorseThanSixStartsOfScikitLearn) {
  for (const auto& golden : goldens()) {
    SCOPED_TRACE(golden["name"].get<std::string>());
    const auto process = process_of(golden, std::nullopt);
    const double theirs = golden["fitted"]["log_likelihood"].get<double>();
    const double ours = log_likelihood(golden_evidence(golden), process.length_scale());
    EXPECT_GE(ours, theirs - 1e-5);
    // If both likelihoods are equal, so are the maxima.
    if (ours < theirs + 1e-5 && process.length_scale() < 100.0) {
      EXPECT_NEAR(process.length_scale() / golden["fitted"]["length_scale"].get<double>(), 1.0, 1e-3);
    }
  }
}

TEST(GaussianProcess, GrownRowByRowIsTheOneFactoredAtOnce) {
  for (const auto& golden : goldens()) {
    SCOPED_TRACE(golden["name"].get<std::string>());
    const auto points = points_of(golden["points"]);
    const auto scores = vector_of(golden["scores"]);
    const auto queries = points_of(golden["queries"]);
    GaussianProcess grown(points.rows(), golden["noise"].get<double>());
    grown.set_length_scale(1.7);
    for (Eigen::Index column = 0; column < points.cols(); ++column)
      grown.add(points.col(column), scores.segment(column, 1));
    const auto whole = process_of(golden, 1.7);
    EXPECT_LE((grown.factor() - whole.factor()).cwiseAbs().maxCoeff(), 1e-10);
    expect_near(grown.posterior(queries).mean, whole.posterior(queries).mean, 1e-8);
    expect_near(grown.posterior(queries).deviation, whole.posterior(queries).deviation, 1e-8);
  }
}

TEST(GaussianProcess, GrownInAnyGroupsIsTheSameToTheBit) {
  Eigen::MatrixXd points = (Eigen::MatrixXd::Random(7, 150).array() + 1.0) / 2.0;
  const Eigen::VectorXd scores = points.colwise().squaredNorm().transpose();
  GaussianProcess one_by_one(7, 1e-2);
  for (Eigen::Index column = 0; column < 150; ++column)
    one_by_one.add(points.col(column), scores.segment(column, 1));
  GaussianProcess in_two(7, 1e-2);
  in_two.add(points.leftCols(37), scores.head(37));
  in_two.add(points.rightCols(113), scores.tail(113));
  EXPECT_TRUE(one_by_one.weights() == in_two.weights());
}

TEST(GaussianProcess, WithoutObservationsIsThePrior) {
  const GaussianProcess process(3, 1e-2);
  const auto posterior = process.posterior(Eigen::MatrixXd::Constant(3, 2, 0.5));
  expect_near(posterior.mean, Eigen::VectorXd::Zero(2), 0.0);
  expect_near(posterior.deviation, Eigen::VectorXd::Ones(2), 0.0);
}

TEST(GaussianProcess, StaysDefiniteWhereOnePointIsMeasuredManyTimes) {
  GaussianProcess process(2, 1e-6);
  process.set_length_scale(1e5);
  const Eigen::VectorXd point = Eigen::VectorXd::Constant(2, 0.5);
  for (int i = 0; i < 200; ++i) process.add(point, Eigen::VectorXd::Constant(1, i % 2));
  const auto posterior = process.posterior(point);
  EXPECT_NEAR(posterior.mean[0], 0.5, 1e-6);
  EXPECT_LT(posterior.deviation[0], 1e-3);
}

}  // namespace
}  // namespace draftscope::engine::search
