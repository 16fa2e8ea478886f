// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/chrome/chrome_events.h"

#include <draftscope/base/quote.h>
#include <draftscope/base/text_stream.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <istream>
#include <limits>
#include <nlohmann/json.hpp>

#include "import/chrome/mended_json.h"
#include "storage/schema.h"

namespace draftscope::traces {
namespace {

// Events have a few arguments; more are ignored.
constexpr std::size_t max_arguments = 64;
constexpr std::size_t block_bytes = std::size_t{1} << 18U;

/// A buffer that feeds the parser in large blocks.
class CountingBuffer : public std::streambuf {
 public:
  explicit CountingBuffer(TextStream& stream) : stream_(stream), block_(block_bytes, '\0') {}
  [[nodiscard]] std::int64_t bytes() const { return stream_.bytes_of_file(); }
  /// Whether the parser has come to the end of the file.
  [[nodiscard]] bool at_end() const { return at_end_; }

 protected:
  int_type underflow() override {
    stream_.read(block_.data(), static_cast<std::streamsize>(block_.size()));
    const auto count = stream_.gcount();
    at_end_ = count <= 0;
    if (at_end_) return traits_type::eof();
    setg(block_.data(), block_.data(), block_.data() + count);
    return traits_type::to_int_type(block_.front());
  }

 private:
  TextStream& stream_;
  std::string block_;
  bool at_end_ = false;
};

/// The handler that nlohmann's parser calls. Depth 0 is outside all values.
class EventReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  EventReader(std::string file, const CountingBuffer& buffer, const ImportProgress& progress, bool is_partial,
              const std::function<Result<void>(const ChromeEvent&)>& take)
      : file_(std::move(file)), buffer_(buffer), progress_(progress), is_partial_(is_partial), take_(take) {}

  /// Sentences about what was passed over.
  [[nodiscard]] Result<std::vector<std::string>> result() const {
    if (!error_.message.empty()) return tl::unexpected<Error>(error_);
    if (events_depth_ == 0) return fail("{}: has no traceEvents, expected a Chrome trace", file_);
    return remarks_;
  }

  bool null() override {
    if (in_arguments_) ++element_;
    return true;
  }
  bool boolean(bool value) override {
    return scalar(value ? "1" : "0", value ? 1 : 0, value ? 1.0 : 0.0, false);
  }
  bool number_integer(number_integer_t value) override {
    return scalar(std::to_string(value), value, static_cast<double>(value), false);
  }
  bool number_unsigned(number_unsigned_t value) override {
    std::optional<std::int64_t> integer;
    if (value <= static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
      integer = static_cast<std::int64_t>(value);
    return scalar(std::to_string(value), integer, static_cast<double>(value), false);
  }
  bool number_float(number_float_t value, const string_t& text) override {
    return scalar(text, std::nullopt, value, false);
  }
  bool string(string_t& value) override { return scalar(value, std::nullopt, std::nullopt, true); }
  bool binary(binary_t& /*value*/) override { return true; }

  bool start_object(std::size_t /*elements*/) override {
    ++depth_;
    if (events_depth_ != 0 && depth_ == events_depth_ + 1) {
      const std::int64_t index = event_.index + 1;
      event_ = {};
      event_.index = index;
    }
    in_arguments_ = in_arguments_ || (is_event_field() && key_ == "args" && depth_ == events_depth_ + 2);
    return true;
  }
  bool end_object() override {
    --depth_;
    if (in_arguments_ && depth_ == events_depth_ + 1) in_arguments_ = false;
    return events_depth_ == 0 || depth_ != events_depth_ || finish_event();
  }
  bool start_array(std::size_t /*elements*/) override {
    ++depth_;
    if (depth_ == 1 || (depth_ == 2 && root_is_object_ && key_ == "traceEvents" && events_depth_ == 0))
      events_depth_ = depth_;
    element_ = 0;
    return events_depth_ == 0 || depth_ != events_depth_ + 1 || finish_no_object();
  }
  bool end_array() override {
    if (depth_ == events_depth_) events_depth_ = closed_;
    --depth_;
    return true;
  }
  bool key(string_t& value) override {
    if (depth_ == 1) root_is_object_ = true;
    if (!in_arguments_ || depth_ == events_depth_ + 2) key_ = value;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& exception) override {
    const bool may_end_here = depth_ == 1 && events_depth_ == 1;  // The format needs no ']'.
    if (may_end_here && buffer_.at_end()) return false;
    if (is_partial_ && events_depth_ != 0) {
      remarks_.push_back(fmt::format("{}: {} at byte {}, after event {}, which is the last one taken", file_,
                                     buffer_.at_end() ? "ends" : "is not JSON", position, whole_events_));
      return false;
    }
    // Error 406 is a number beyond a double.
    const bool is_number = exception.id == 406;
    return stop({fmt::format(
        "{}: {} at byte {}, after event {}, expected a whole Chrome trace (--partial takes the rest)", file_,
        is_number ? "a number is too large" : "is not JSON", position, event_.index)});
  }

 private:
  // Marks the end of the event array; no event has this depth.
  static constexpr std::size_t closed_ = std::numeric_limits<std::size_t>::max() / 2;

  [[nodiscard]] bool is_event_field() const { return events_depth_ != 0 && depth_ > events_depth_; }

  bool stop(Error error) {
    if (error_.message.empty()) error_ = std::move(error);
    return false;
  }

  bool scalar(std::string_view text, std::optional<std::int64_t> integer, std::optional<double> number,
              bool is_text) {
    if (!is_event_field()) {
      return depth_ != events_depth_ || finish_no_object();
    }
    if (depth_ == events_depth_ + 1) return field(text);
    if (!in_arguments_) return true;
    if (depth_ == events_depth_ + 2 && event_.arguments.size() < max_arguments) {
      event_.arguments.push_back({key_, integer, number, is_text ? std::string(text) : std::string()});
    } else if (depth_ == events_depth_ + 3) {
      const bool is_grid = key_ == "grid";
      if ((is_grid || key_ == "block") && element_ < 3 && integer)
        (is_grid ? event_.grid : event_.block)[element_] = static_cast<std::int32_t>(
            std::clamp<std::int64_t>(*integer, 0, std::numeric_limits<std::int32_t>::max()));
      ++element_;
    }
    return true;
  }

  bool field(std::string_view text) {
    if (key_ == "ts" || key_ == "dur") {
      const bool is_negative = key_ == "ts" && text.starts_with('-');
      const std::optional<std::int64_t> time_ns = microseconds_to_ns(text.substr(is_negative ? 1 : 0));
      if (!time_ns && event_.problem.empty())
        event_.problem = fmt::format("{}: event {}: {} is {}, expected microseconds from 0 to 2^62 ns", file_,
                                     event_.index, key_, text.empty() ? "empty" : excerpt(text));
      auto& target = key_ == "ts" ? event_.start_ns : event_.length_ns;
      if (time_ns) target = is_negative ? -*time_ns : *time_ns;
    } else if (key_ == "ph") {
      event_.phase = text;
    } else if (key_ == "name") {
      event_.name = text;
    } else if (key_ == "cat") {
      event_.category = text;
    } else if (key_ == "pid") {
      event_.process = text;
    } else if (key_ == "tid") {
      event_.thread = text;
    }
    return true;
  }

  bool finish_no_object() {
    const std::int64_t index = event_.index + 1;
    event_ = {};
    event_.index = index;
    event_.problem = fmt::format("{}: event {} is no object, expected a Chrome trace event", file_, index);
    return finish_event();
  }

  bool finish_event() {
    constexpr std::int64_t events_per_report = 4096;
    if (event_.index % events_per_report == 0)
      if (auto going_on = progress_.update(buffer_.bytes()); !going_on) return stop(going_on.error());
    if (auto taken = take_(event_); !taken) return stop(taken.error());
    whole_events_ = event_.index;
    return true;
  }

  std::string file_;
  const CountingBuffer& buffer_;
  const ImportProgress& progress_;
  bool is_partial_;
  const std::function<Result<void>(const ChromeEvent&)>& take_;
  Error error_;
  std::vector<std::string> remarks_;
  std::int64_t whole_events_ = 0;
  ChromeEvent event_;
  std::string key_;
  std::size_t depth_ = 0;
  std::size_t events_depth_ = 0;  // depth of the array of events; 0 = not yet found
  std::size_t element_ = 0;
  bool root_is_object_ = false;
  bool in_arguments_ = false;
};

}  // namespace

const ChromeArgument* ChromeEvent::argument(std::string_view key) const {
  const auto found = std::find_if(arguments.begin(), arguments.end(),
                                  [&](const ChromeArgument& argument) { return argument.key == key; });
  return found == arguments.end() ? nullptr : &*found;
}

std::optional<std::int64_t> ChromeEvent::integer(std::string_view key, std::int64_t least,
                                                 std::int64_t most) const {
  const ChromeArgument* const found = argument(key);
  if (found == nullptr || !found->integer || *found->integer < least || *found->integer > most)
    return std::nullopt;
  return found->integer;
}

std::optional<std::int64_t> microseconds_to_ns(std::string_view text) {
  constexpr std::size_t decimals = 3;
  const std::string_view whole = text.substr(0, text.find('.'));
  const std::string_view fraction = whole.size() < text.size() ? text.substr(whole.size() + 1) : "";
  std::int64_t whole_us = 0;
  const auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), whole_us);
  const bool is_plain = fraction.find_first_not_of("0123456789") == std::string_view::npos;
  if (error == std::errc{} && end == whole.data() + whole.size() && is_plain) {
    if (whole.starts_with('-') || whole_us > max_ns / 1000) return std::nullopt;
    std::int64_t time_ns = whole_us * 1000;
    std::int64_t unit_ns = 100;
    for (std::size_t i = 0; i < std::min(decimals, fraction.size()); ++i, unit_ns /= 10)
      time_ns += (fraction[i] - '0') * unit_ns;
    if (fraction.size() > decimals && fraction[decimals] >= '5') ++time_ns;
    return time_ns <= max_ns ? std::optional(time_ns) : std::nullopt;
  }
  double time_us = -1.0;
  const auto [last, failed] = std::from_chars(text.data(), text.data() + text.size(), time_us);
  if (failed != std::errc{} || last != text.data() + text.size() ||
      !(time_us >= 0.0 && time_us * 1e3 < 0x1p62))
    return std::nullopt;
  return std::llround(time_us * 1e3);
}

Result<std::vector<std::string>> read_chrome_events(
    const std::filesystem::path& file, const ImportProgress& progress, bool is_partial,
    const std::function<Result<void>(const ChromeEvent&)>& take) {
  TextStream stream(file, progress.may_be_cut);
  DRAFTSCOPE_TRY(stream.result());
  CountingBuffer buffer(stream);
  MendedJson mended(buffer);
  std::istream input(is_partial ? static_cast<std::streambuf*>(&mended) : &buffer);
  EventReader reader(file.string(), buffer, progress, is_partial, take);
  nlohmann::json::sax_parse(input, &reader);
  DRAFTSCOPE_TRY(stream.result());
  DRAFTSCOPE_TRY_ASSIGN(std::vector<std::string> remarks, reader.result());
  if (mended.places() > 0)
    remarks.push_back(fmt::format("{}: mended {} places that JSON does not allow, the first at byte {}",
                                  file.string(), mended.places(), mended.first_place()));
  return remarks;
}

}  // namespace draftscope::traces
