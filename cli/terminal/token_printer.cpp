// SPDX-License-Identifier: GPL-3.0-or-later
#include "terminal/token_printer.h"

namespace draftscope::cli {

namespace {

constexpr std::string_view accepted_style = "\033[32m";
constexpr std::string_view bonus_style = "\033[1m";
constexpr std::string_view rejected_style = "\033[31;9m";
constexpr std::string_view plain = "\033[0m";

}  // namespace

void TokenPrinter::print(std::string_view text, std::string_view style) const {
  if (text.empty()) return;
  if (colour_) std::fwrite(style.data(), 1, style.size(), stdout);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (colour_) std::fwrite(plain.data(), 1, plain.size(), stdout);
}

void TokenPrinter::on_first_token(std::int32_t token) {
  print(decoder_.next(token), bonus_style);
  std::fflush(stdout);
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
        print(tokenizer_.decode(std::span(&id, 1)), rejected_style);
      }
    }
    print(decoder_.next(report.emitted[i]), i < accepted ? accepted_style : bonus_style);
  }
  std::fflush(stdout);
}

void TokenPrinter::finish() {
  print(decoder_.finish(), bonus_style);
  std::fflush(stdout);
}

}  // namespace draftscope::cli
