// SPDX-License-Identifier: GPL-3.0-or-later
#include "terminal/token_printer.h"

#include "terminal/outcome.h"

namespace draftscope::cli {

namespace {

constexpr std::string_view accepted_style = "\033[32m";
constexpr std::string_view bonus_style = "\033[1m";
constexpr std::string_view rejected_style = "\033[31;9m";
constexpr std::string_view plain = "\033[0m";

}  // namespace

void TokenPrinter::add(std::string_view text, std::string_view style) {
  if (text.empty()) return;
  if (colour_) line_ += style;
  line_ += text;
  if (colour_) line_ += plain;
}

void TokenPrinter::write() {
  if (!written_) return;
  written_ = write_out(line_);
  line_.clear();
  if (!written_) stop_();
}

void TokenPrinter::on_first_token(std::int32_t token) {
  if (begin_) begin_();
  add(decoder_.next(token), bonus_style);
  write();
}

void TokenPrinter::on_round(const engine::RoundReport& report) {
  ++rounds_;
  drafted_ += report.round.drafted;
  accepted_ += report.round.accepted;
  emitted_ += report.round.emitted;
  const auto accepted = static_cast<std::size_t>(report.round.accepted);
  for (std::size_t i = 0; i < report.emitted.size(); ++i) {
    if (i == accepted && colour_) {
      for (const traces::DraftToken& token : report.draft_tokens.subspan(accepted)) {
        const std::int32_t id = token.token;
        add(tokenizer_.decode(std::span(&id, 1)), rejected_style);
      }
    }
    add(decoder_.next(report.emitted[i]), i < accepted ? accepted_style : bonus_style);
  }
  write();
}

Result<void> TokenPrinter::finish() {
  add(decoder_.finish(), bonus_style);
  line_ += '\n';
  write();
  return written_;
}

}  // namespace draftscope::cli
