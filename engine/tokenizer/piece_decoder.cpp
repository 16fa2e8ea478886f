// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/piece_decoder.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "tokenizer/byte_alphabet.h"

namespace draftscope::engine::tokenizer {
namespace {

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string replaced;
  for (auto at = text.find(from); at != std::string_view::npos; at = text.find(from)) {
    replaced += text.substr(0, at);
    replaced += to;
    text.remove_prefix(at + from.size());
  }
  replaced += text;
  return replaced;
}

std::optional<char> byte_of_fallback_piece(std::string_view piece) {
  constexpr std::size_t length = 6;  // <0xHH>
  if (piece.size() != length || piece.substr(0, 3) != "<0x" || piece.back() != '>') return std::nullopt;
  std::string_view digits = piece.substr(3, 2);
  if (digits[0] == '+') digits.remove_prefix(1);  // Hugging Face's number parser accepts a sign.
  unsigned char byte = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
  if (result.ec != std::errc() || result.ptr != digits.data() + digits.size()) return std::nullopt;
  return static_cast<char>(byte);
}

}  // namespace

double decoded_growth(const std::vector<DecoderStep>& steps) {
  double growth = 1;
  for (const DecoderStep& step : steps)
    if (const auto* replace = std::get_if<ReplaceText>(&step))
      growth *=
          std::max(1.0, static_cast<double>(replace->to.size()) / static_cast<double>(replace->from.size()));
  return growth;
}

PieceDecoder::PieceDecoder(const std::vector<DecoderStep>& steps) : steps_(&steps), states_(steps.size()) {}

void PieceDecoder::feed(std::string_view piece, std::string& output) {
  pass(0, piece, output);
}

void PieceDecoder::finish(std::string& output) {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    end_byte_run(i, output);
    std::string rest;
    states_[i].joiner.finish(rest);
    if (!rest.empty()) pass(i + 1, rest, output);
  }
}

void PieceDecoder::pass(std::size_t step, std::string_view piece, std::string& output) {
  if (step == steps_->size()) {
    output += piece;
    return;
  }
  std::visit([&](const auto& s) { pass_through(s, step, piece, output); }, (*steps_)[step]);
}

void PieceDecoder::pass_through(const ReplaceText& step, std::size_t index, std::string_view piece,
                                std::string& output) {
  pass(index + 1, replace_all(piece, step.from, step.to), output);
}

void PieceDecoder::pass_through(const ByteFallback& /*step*/, std::size_t index, std::string_view piece,
                                std::string& output) {
  if (const auto byte = byte_of_fallback_piece(piece)) {
    states_[index].bytes += *byte;
    return;
  }
  end_byte_run(index, output);
  pass(index + 1, piece, output);
}

void PieceDecoder::end_byte_run(std::size_t index, std::string& output) {
  const std::string bytes = std::exchange(states_[index].bytes, {});
  if (bytes.empty()) return;
  if (!first_invalid_utf8(bytes)) {
    pass(index + 1, bytes, output);
    return;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) pass(index + 1, replacement_character, output);
}

void PieceDecoder::pass_through(const StripStart& step, std::size_t index, std::string_view piece,
                                std::string& output) {
  int once = 0;
  int& stripped = step.fused ? states_[index].stripped : once;
  while (stripped < step.count && piece.substr(0, step.character.size()) == step.character) {
    piece.remove_prefix(step.character.size());
    ++stripped;
  }
  if (!piece.empty()) stripped = step.count;
  pass(index + 1, piece, output);
}

void PieceDecoder::pass_through(const MetaspaceToSpace& step, std::size_t index, std::string_view piece,
                                std::string& output) {
  const bool drop = std::exchange(states_[index].first, false) && step.drop_first;
  pass(index + 1, replace_all(piece, step.replacement, drop ? "" : " "), output);
}

void PieceDecoder::pass_through(const JoinBytes& step, std::size_t index, std::string_view piece,
                                std::string& output) {
  std::string text;
  states_[index].joiner.feed(step.mapped ? bytes_of_piece(piece) : std::string(piece), text);
  if (!text.empty()) pass(index + 1, text, output);
}

void PieceDecoder::pass_through(const JoinWithSpaces& /*step*/, std::size_t index, std::string_view piece,
                                std::string& output) {
  if (!std::exchange(states_[index].first, false)) pass(index + 1, " ", output);
  pass(index + 1, piece, output);
}

}  // namespace draftscope::engine::tokenizer
