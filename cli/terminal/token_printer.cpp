// SPDX-License-Identifier: GPL-3.0-or-later
#include "terminal/token_printer.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "terminal/messages.h"

namespace draftscope::cli {

namespace {

constexpr std::string_view accepted_style = "\033[32m";
constexpr std::string_view bonus_style = "\033[1m";
constexpr std::string_view rejected_style = "\033[31;9m";
constexpr std::string_view plain = "\033[0m";

}  // namespace

bool marks_tokens(std::string_view colour, bool quiet) {
  if (quiet || colour == "never") return false;
  return colour == "always" || (isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr);
}

void TokenPrinter::add(std::string text, std::string_view style, bool is_output) {
  if (text.empty()) return;
  if (is_output) (void)search_.add(text);
  waiting_.push_back({std::move(text), style, is_output});
  add_settled();
}

/// Moves text that certainly belongs to the output to the line, whatever follows.
void TokenPrinter::add_settled() {
  while (!waiting_.empty()) {
    Piece& piece = waiting_.front();
    const std::size_t settled = search_.settled_bytes() - printed_bytes_;
    if (search_.found() && settled == 0) return waiting_.clear();
    const std::size_t bytes = piece.is_output ? std::min(settled, piece.text.size()) : piece.text.size();
    if (bytes > 0) {
      if (colour_) line_ += piece.style;
      line_.append(piece.text, 0, bytes);
      if (colour_) line_ += plain;
    }
    if (piece.is_output) printed_bytes_ += bytes;
    piece.text.erase(0, bytes);
    if (!piece.text.empty()) return;
    waiting_.pop_front();
  }
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
      for (const traces::DraftToken& token : report.draft_tokens) {
        if (token.accepted) continue;
        const std::int32_t id = token.token;
        add(tokenizer_.decode(std::span(&id, 1)), rejected_style, false);
      }
    }
    add(decoder_.next(report.emitted[i]), i < accepted ? accepted_style : bonus_style);
  }
  write();
}

Result<void> TokenPrinter::finish() {
  add(decoder_.finish(), bonus_style);
  search_.end();
  add_settled();
  line_ += '\n';
  write();
  return written_;
}

}  // namespace draftscope::cli
