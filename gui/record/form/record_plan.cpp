// SPDX-License-Identifier: GPL-3.0-or-later
#include "record_plan.h"

#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/base/shell_words.h>
#include <draftscope/speculation/weight_format.h>
#include <draftscope/traces/record_help.h>
#include <draftscope/traces/template_arguments.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <variant>

namespace draftscope::gui {

namespace {

using Words = std::vector<std::string>;
using Member = std::variant<std::string RecordPlan::*, std::int32_t RecordPlan::*, bool RecordPlan::*,
                            Words RecordPlan::*>;

/// An option with a field of its own.
struct Option {
  std::string_view name;
  std::string_view short_name;  ///< empty = none
  Member member;
  PlanRange range{};  ///< Range of a number.
};

const std::array<Option, 19>& options() {
  static const std::array<Option, 19> all{{{"--model", "-m", &RecordPlan::model},
                                           {"--prompts", "", &RecordPlan::prompts},
                                           {"--strategy", "-s", &RecordPlan::strategies},
                                           {"--max-tokens", "-n", &RecordPlan::max_tokens, positive_range},
                                           {"--repeats", "", &RecordPlan::repeats, positive_range},
                                           {"--limit", "", &RecordPlan::limit},
                                           {"--warmup", "", &RecordPlan::warmup},
                                           {"--level", "", &RecordPlan::level},
                                           {"--shadow", "", &RecordPlan::shadow},
                                           {"--device", "", &RecordPlan::device},
                                           {"--device-trace", "", &RecordPlan::device_trace},
                                           {"--weights", "", &RecordPlan::weights},
                                           {"--threads", "", &RecordPlan::threads, thread_range},
                                           {"--chat", "", &RecordPlan::chat},
                                           {"--system", "", &RecordPlan::system},
                                           {"--template-arg", "", &RecordPlan::template_arguments},
                                           {"--skip-unfit", "", &RecordPlan::skip_unfit},
                                           {"--output", "-o", &RecordPlan::output},
                                           {"--overwrite", "", &RecordPlan::overwrite}}};
  return all;
}

std::string_view shortest_name(const Option& option) {
  return option.short_name.empty() ? option.name : option.short_name;
}

/// "-n" is an option, "-1" is a value.
bool is_option(std::string_view word) {
  return word.size() > 1 && word.front() == '-' && (word[1] < '0' || word[1] > '9') && word[1] != '.';
}

/// Appends the words of one option at a plan's values; none at the default.
struct WordsOf {
  const RecordPlan& plan;
  const Option& option;
  Words& words;

  void add(const std::string& value) const {
    // A value that looks like an option must be joined to its option.
    if (is_option(value)) return words.push_back(std::string(option.name) + '=' + value);
    words.emplace_back(shortest_name(option));
    words.push_back(value);
  }
  void operator()(std::string RecordPlan::*member) const {
    if (plan.*member != RecordPlan().*member) add(plan.*member);
  }
  void operator()(std::int32_t RecordPlan::*member) const {
    if (plan.*member != RecordPlan().*member) add(std::to_string(plan.*member));
  }
  void operator()(bool RecordPlan::*member) const {
    if (plan.*member) words.emplace_back(option.name);
  }
  void operator()(Words RecordPlan::*member) const {
    for (const std::string& value : plan.*member) add(value);
  }
};

/// Parses the words of a command line.
class PlanParser {
 public:
  explicit PlanParser(Words words) : words_(std::move(words)) {}

  Result<RecordPlan> parse() {
    skip_command();
    if (at_ < words_.size() && words_[at_] == "record") ++at_;
    while (at_ < words_.size()) DRAFTSCOPE_TRY(take());
    return std::move(plan_);
  }

 private:
  void skip_command() {
    constexpr std::string_view command = "draftscope";
    if (words_.empty() || is_option(words_.front())) return;
    const std::string& first = words_.front();
    if (first.substr(first.find_last_of('/') + 1) == command) at_ = 1;
  }

  Result<void> take() {
    const std::string& word = words_[at_];
    if (!is_option(word))
      return fail("command line: found {}, expected an option of draftscope record", quote(word));
    const bool is_long = word.starts_with("--");
    const std::size_t end =
        is_long ? std::min(word.find('='), word.size()) : std::min<std::size_t>(2, word.size());
    const std::string name = word.substr(0, end);
    std::optional<std::string> joined;
    if (end < word.size()) joined = word.substr(is_long ? end + 1 : end);
    const auto found = std::find_if(options().begin(), options().end(), [&](const Option& option) {
      return option.name == name || option.short_name == name;
    });
    ++at_;
    if (found == options().end()) {
      plan_.further.push_back(word);
      while (at_ < words_.size() && !is_option(words_[at_])) plan_.further.push_back(words_[at_++]);
      return {};
    }
    return std::visit([&](auto member) { return set(*found, member, joined); }, found->member);
  }

  Result<std::string> value_of(const Option& option, const std::optional<std::string>& joined) {
    if (joined) return *joined;
    if (at_ == words_.size() || is_option(words_[at_]))
      return fail("{}: found no value, expected one", option.name);
    return words_[at_++];
  }

  Result<void> set(const Option& option, std::string RecordPlan::*member,
                   const std::optional<std::string>& joined) {
    DRAFTSCOPE_TRY_ASSIGN(plan_.*member, value_of(option, joined));
    const Words levels(record_levels().begin(), record_levels().end());
    const auto& traced = traces::record_help::device_traces;
    if (member == &RecordPlan::level) return check_choice(option, plan_.level, levels);
    if (member == &RecordPlan::weights) return check_choice(option, plan_.weights, record_weights());
    if (member == &RecordPlan::device_trace)
      return check_choice(option, plan_.device_trace, {traced.begin(), traced.end()});
    return {};
  }
  Result<void> set(const Option& option, std::int32_t RecordPlan::*member,
                   const std::optional<std::string>& joined) {
    DRAFTSCOPE_TRY_ASSIGN(const std::string text, value_of(option, joined));
    const auto number = parse_number<std::int32_t>(text);
    if (!number || *number < option.range.min || *number > option.range.max)
      return fail("{}: found {}, expected an integer from {} to {}", option.name, quote(text),
                  option.range.min, option.range.max);
    plan_.*member = *number;
    return {};
  }
  Result<void> set(const Option& option, bool RecordPlan::*member, const std::optional<std::string>& joined) {
    if (joined) return fail("{}: found the value {}, expected none", option.name, quote(*joined));
    plan_.*member = true;
    return {};
  }
  Result<void> set(const Option& option, Words RecordPlan::*member,
                   const std::optional<std::string>& joined) {
    DRAFTSCOPE_TRY_ASSIGN(const std::string first, value_of(option, joined));
    (plan_.*member).push_back(first);
    // One -s or --template-arg may have several values.
    while (!joined && at_ < words_.size() && !is_option(words_[at_]))
      (plan_.*member).push_back(words_[at_++]);
    return {};
  }

  static Result<void> check_choice(const Option& option, const std::string& value, const Words& choices) {
    if (std::find(choices.begin(), choices.end(), value) != choices.end()) return {};
    return fail("{}: found {}, expected one of {}", option.name, quote(value), fmt::join(choices, ", "));
  }

  Words words_;
  std::size_t at_ = 0;
  RecordPlan plan_;
};

}  // namespace

std::span<const std::string_view> record_levels() {
  static constexpr std::array<std::string_view, 4> levels{"rounds", "phases", "layers", "ops"};
  return levels;
}

std::vector<std::string> record_weights() {
  std::vector<std::string> words{RecordPlan().weights, "bf16"};
  for (const speculation::WeightFormatRow& row : speculation::weight_formats())
    if (row.made_by != speculation::MadeBy::none) words.emplace_back(row.name);
  return words;
}

std::vector<std::string> record_weights_on(std::string_view device) {
  const auto backend = device == "cpu" ? speculation::MadeBy::cpu : speculation::MadeBy::cuda;
  std::vector<std::string> words = record_weights();
  for (const speculation::WeightFormatRow& row : speculation::weight_formats())
    if (row.format != speculation::WeightFormat::bf16 && !speculation::makes(backend, row))
      std::erase(words, row.name);
  return words;
}

std::vector<std::string> record_arguments(const RecordPlan& plan) {
  Words words{"record"};
  for (const Option& option : options()) std::visit(WordsOf{plan, option, words}, option.member);
  words.insert(words.end(), plan.further.begin(), plan.further.end());
  return words;
}

std::string command_line_of(const RecordPlan& plan) {
  Words words = record_arguments(plan);
  words.insert(words.begin(), "draftscope");
  return shell_line(words);
}

Result<RecordPlan> plan_of_command_line(std::string_view line) {
  DRAFTSCOPE_TRY_ASSIGN(Words words, shell_words(line));
  return PlanParser(std::move(words)).parse();
}

Result<std::vector<std::string>> template_arguments_of(std::string_view line) {
  DRAFTSCOPE_TRY_ASSIGN(Words words, shell_words(line));
  DRAFTSCOPE_TRY(traces::template_arguments_json(words));
  return words;
}

Result<std::vector<std::string>> further_options(std::string_view line) {
  DRAFTSCOPE_TRY_ASSIGN(RecordPlan plan, plan_of_command_line(line));
  RecordPlan others;
  others.further = plan.further;
  if (plan != others) {
    const Words with_field = record_arguments(plan);
    return fail("further options: {} has a field of its own, expected others",
                with_field.size() > 1 ? with_field[1] : "one of them");
  }
  return std::move(plan.further);
}

}  // namespace draftscope::gui
