// SPDX-License-Identifier: GPL-3.0-or-later
#include "ascent.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace draftscope::engine::search {
namespace {

constexpr double sufficient = 1e-4;  ///< fraction of the expected gain that a step must achieve
constexpr double min_step = 1e-10;
constexpr double max_step = 1e10;

Eigen::VectorXd into_box(const Eigen::VectorXd& point) {
  return point.cwiseMax(0.0).cwiseMin(1.0);
}

/// The ascent from one start.
class Climber {
 public:
  Climber(const Eigen::VectorXd& start, const AscentLimits& limits)
      : trial_(into_box(start)), limits_(limits) {
    remembered_.fill(std::numeric_limits<double>::infinity());
  }

  [[nodiscard]] bool climbing() const { return climbing_; }
  /// Point at which the function is evaluated next.
  [[nodiscard]] const Eigen::VectorXd& trial() const { return trial_; }
  [[nodiscard]] const Maximum& best() const { return best_; }

  void take(double value, const Eigen::VectorXd& gradient) {
    if (point_.size() == 0)
      begin(value, gradient);
    else if (value >= *std::min_element(remembered_.begin(), remembered_.end()) +
                          sufficient * step_fraction_ * expected_gain_)
      accept(value, gradient);
    else
      shorten(value);
  }

 private:
  void begin(double value, const Eigen::VectorXd& gradient) {
    move_to(value, gradient);
    const double reach = (into_box(point_ + gradient_) - point_).lpNorm<Eigen::Infinity>();
    step_ = reach > 0.0 ? std::clamp(1.0 / reach, min_step, max_step) : 1.0;
    aim();
  }

  void accept(double value, const Eigen::VectorXd& gradient) {
    const Eigen::VectorXd moved = trial_ - point_;
    const double bend =
        -moved.dot(gradient - gradient_);  // positive where the function is concave along the step
    const bool gained = std::abs(value - value_) > limits_.gain * std::max(1.0, std::abs(value));
    step_ = bend > 0.0 ? std::clamp(moved.squaredNorm() / bend, min_step, max_step) : max_step;
    move_to(value, gradient);
    if (gained)
      aim();
    else
      climbing_ = false;
  }

  /// Shortens the step to the maximum of the parabola through both values and the slope, limited to 0.1 to
  /// 0.5 of the step.
  void shorten(double value) {
    const double lost = value - value_ - step_fraction_ * expected_gain_;
    const double parabola = lost < 0.0 ? -0.5 * step_fraction_ * step_fraction_ * expected_gain_ / lost : 0.0;
    step_fraction_ = std::clamp(parabola, 0.1 * step_fraction_, 0.5 * step_fraction_);
    if (step_fraction_ < min_step)
      climbing_ = false;
    else
      trial_ = point_ + step_fraction_ * direction_;
  }

  void move_to(double value, const Eigen::VectorXd& gradient) {
    point_ = trial_;
    value_ = value;
    gradient_ = gradient;
    remembered_[oldest_] = value;
    oldest_ = (oldest_ + 1) % remembered_.size();
    if (best_.point.size() == 0 || value > best_.value) best_ = {point_, value};
  }

  void aim() {
    if ((into_box(point_ + gradient_) - point_).lpNorm<Eigen::Infinity>() <= limits_.gradient) {
      climbing_ = false;
      return;
    }
    direction_ = into_box(point_ + step_ * gradient_) - point_;
    expected_gain_ = gradient_.dot(direction_);
    step_fraction_ = 1.0;
    trial_ = point_ + direction_;
  }

  Eigen::VectorXd trial_;
  AscentLimits limits_;
  Eigen::VectorXd point_, gradient_, direction_;
  double value_ = 0.0;
  double step_ = 1.0;           ///< Barzilai & Borwein's step, along the gradient
  double expected_gain_ = 0.0;  ///< gain along the whole direction, estimated by the slope
  double step_fraction_ = 1.0;  ///< fraction of the direction that is tried
  std::array<double, 10> remembered_{};
  std::size_t oldest_ = 0;
  Maximum best_;
  bool climbing_ = true;
};

}  // namespace

Maximum ascend(const std::function<Evaluation(const Eigen::MatrixXd&)>& evaluate,
               const Eigen::MatrixXd& starts, const AscentLimits& limits) {
  std::vector<Climber> climbers;
  for (Eigen::Index column = 0; column < starts.cols(); ++column)
    climbers.emplace_back(starts.col(column), limits);
  Eigen::MatrixXd trials;
  for (int evaluation = 0; evaluation < limits.evaluations; ++evaluation) {
    std::vector<Climber*> active;
    for (Climber& climber : climbers)
      if (climber.climbing()) active.push_back(&climber);
    if (active.empty()) break;
    trials.resize(starts.rows(), static_cast<Eigen::Index>(active.size()));
    for (std::size_t i = 0; i < active.size(); ++i)
      trials.col(static_cast<Eigen::Index>(i)) = active[i]->trial();
    const Evaluation found = evaluate(trials);
    for (std::size_t i = 0; i < active.size(); ++i)
      active[i]->take(found.values[static_cast<Eigen::Index>(i)],
                      found.gradients.col(static_cast<Eigen::Index>(i)));
  }
  return std::max_element(climbers.begin(), climbers.end(),
                          [](const Climber& a, const Climber& b) { return a.best().value < b.best().value; })
      ->best();
}

}  // namespace draftscope::engine::search
