// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Prints tokens as rounds emit them. With colour, accepted draft tokens are green, bonus tokens plain and
// bold, rejected draft tokens red and struck through. Without colour it prints only the text.

#include <draftscope/engine/decode.h>
#include <draftscope/engine/stop_strings.h>
#include <draftscope/engine/tokenizer.h>
#include <draftscope/traces/text_share.h>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace draftscope::cli {

/// Whether colours distinguish streamed tokens. `colour` is always, never, or auto, which means on a terminal
/// unless NO_COLOR is set.
[[nodiscard]] bool marks_tokens(std::string_view colour, bool quiet);

class TokenPrinter final : public engine::DecodeListener {
 public:
  /// Printing stops where one of `stop_strings` begins. `stop` is called once if stdout can't be written any
  /// more.
  TokenPrinter(const engine::Tokenizer& tokenizer, engine::StopStrings stop_strings, bool colour,
               std::function<void()> stop)
      : tokenizer_(tokenizer),
        decoder_(tokenizer),
        search_(std::move(stop_strings)),
        stop_(std::move(stop)),
        colour_(colour) {}

  /// Sets a function that is called once, before the first token is printed.
  void before_first_token(std::function<void()> begin) { begin_ = std::move(begin); }

  void on_first_token(std::int32_t token) override;
  void on_round(const engine::RoundReport& report) override;
  /// Prints text that waits for the end of a character or of a stop string, and ends the line. Returns the
  /// first write error, after which nothing is printed.
  [[nodiscard]] Result<void> finish();

  [[nodiscard]] std::int64_t rounds() const { return rounds_; }
  [[nodiscard]] std::int64_t drafted() const { return drafted_; }
  /// Accepted draft tokens, up to the end of a text that `stop` ended.
  [[nodiscard]] std::int64_t accepted(traces::RequestStop stop) const {
    return traces::RoundTokens{rounds_, accepted_, emitted_}.accepted_in_text(stop);
  }
  [[nodiscard]] std::int64_t emitted() const { return emitted_; }  ///< Excludes the prefill's token.

 private:
  /// Text that waits to be printed; only output text can be a stop string.
  struct Piece {
    std::string text;
    std::string_view style;
    bool is_output = true;
  };
  void add(std::string text, std::string_view style, bool is_output = true);
  void add_settled();
  void write();

  const engine::Tokenizer& tokenizer_;
  engine::StreamDecoder decoder_;
  engine::StopSearch search_;
  std::deque<Piece> waiting_;
  std::size_t printed_bytes_ = 0;  ///< Bytes of the output.
  std::function<void()> stop_;
  std::function<void()> begin_;
  bool colour_;
  std::string line_;  ///< Text that was added and not written yet.
  Result<void> written_{};
  std::int64_t rounds_ = 0;
  std::int64_t drafted_ = 0;
  std::int64_t accepted_ = 0;
  std::int64_t emitted_ = 0;
};

}  // namespace draftscope::cli
