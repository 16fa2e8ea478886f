// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The text of a strategy, `name:key=value,…`, and typed, checked access to its parameters.

#include <draftscope/base/result.h>
#include <draftscope/engine/strategy.h>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace draftscope::engine {

class Parameters {
 public:
  /// `text` is what follows the colon; may be empty. Every key must be one of the description's, at most
  /// once.
  [[nodiscard]] static Result<Parameters> parse(const StrategyDescription& description,
                                                std::string_view text);

  [[nodiscard]] const std::string& strategy() const { return description_.name; }

  /// Replaces a default that depends on the model; what the user gave stays.
  void set_default(std::string_view key, std::int64_t value);

  [[nodiscard]] Result<std::int32_t> integer(std::string_view key, std::int32_t least,
                                             std::int32_t most) const;
  [[nodiscard]] Result<double> number(std::string_view key, double least, double most) const;
  [[nodiscard]] const std::string& text(std::string_view key) const;
  [[nodiscard]] Result<std::string> one_of(std::string_view key,
                                           std::initializer_list<std::string_view> choices) const;

  /// JSON object of all parameters; numbers as numbers.
  [[nodiscard]] std::string json() const;
  /// `name:key=value,…` with the parameters that were given, in the description's order.
  [[nodiscard]] std::string specification() const;

 private:
  StrategyDescription description_;
  std::map<std::string, std::string, std::less<>> values_;
  std::set<std::string, std::less<>> given_;
};

}  // namespace draftscope::engine
