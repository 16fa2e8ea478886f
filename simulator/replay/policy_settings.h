// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A strategy's parameters by name, as text, with defaults for those that were not given.

#include <draftscope/base/result.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

namespace draftscope::simulator {

class PolicySettings {
 public:
  /// "key=value,…"; `text` may be empty.
  [[nodiscard]] static Result<PolicySettings> of_text(std::string_view strategy, std::string_view text);
  /// A JSON object of numbers and strings.
  [[nodiscard]] static Result<PolicySettings> of_json(std::string_view strategy, std::string_view json);

  [[nodiscard]] const std::string& strategy() const { return strategy_; }
  void set_default(const std::string& key, const std::string& value) { values_.try_emplace(key, value); }
  [[nodiscard]] bool has(const std::string& key) const { return values_.contains(key); }
  [[nodiscard]] const std::map<std::string, std::string>& values() const { return values_; }

  // Each expects the key to be there, given or by default.
  [[nodiscard]] const std::string& text(const std::string& key) const { return values_.find(key)->second; }
  [[nodiscard]] Result<std::int32_t> integer(const std::string& key, std::int32_t least,
                                             std::int32_t most) const;
  [[nodiscard]] Result<double> number(const std::string& key, double least, double most) const;
  /// Which of `choices`, from 0.
  [[nodiscard]] Result<std::size_t> one_of(const std::string& key,
                                           std::initializer_list<std::string_view> choices) const;

 private:
  std::string strategy_;
  std::map<std::string, std::string> values_;
};

}  // namespace draftscope::simulator
