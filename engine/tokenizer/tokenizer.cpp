// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/python_numbers.h>
#include <draftscope/base/text_file.h>
#include <draftscope/engine/tokenizer.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <variant>

#include "checkpoint/file_watch.h"
#include "checkpoint/gguf/gguf_file.h"
#include "tokenizer/gguf/gguf_tokenizer.h"
#include "tokenizer/implementation.h"
#include "tokenizer/split/utf8.h"

namespace draftscope::engine {
namespace {

using tokenizer::Segment;

constexpr std::int32_t byte_values = 256;
// The largest published tokenizer.json has 35 MB.
constexpr std::size_t max_tokenizer_bytes = std::size_t{64} << 20U;

std::string_view slice(std::string_view text, tokenizer::Range range) {
  return text.substr(range.begin, range.end - range.begin);
}

// Encodes text between two tokens that are found before normalization.
Result<void> encode_text(const Tokenizer::Implementation& it, std::string_view text, bool starts_input,
                         bool find_special, tokenizer::StepBudget& budget,
                         std::vector<std::int32_t>& tokens) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string normalized, it.normalizer.apply(std::string(text), budget));
  budget.at_stage("added_tokens");
  DRAFTSCOPE_TRY_ASSIGN(const auto segments, it.normalized_tokens.segments(normalized, find_special, budget));
  for (const Segment& segment : segments) {
    if (segment.token != Segment::text) {
      tokens.push_back(segment.token);
      continue;
    }
    DRAFTSCOPE_TRY_ASSIGN(const auto pieces,
                          it.pre_tokenizer.apply(std::string(slice(normalized, segment.range)),
                                                 starts_input && segment.range.begin == 0, budget));
    budget.at_stage("model");
    for (const tokenizer::Range range : pieces.ranges) {
      constexpr std::size_t merging_steps_per_byte = 16;
      const std::string_view piece = pieces.piece(range);
      DRAFTSCOPE_TRY(budget.spend(merging_steps_per_byte * piece.size()));
      it.model.encode(piece, tokens);
    }
  }
  return {};
}

Result<std::vector<std::int32_t>> encode_bytes(std::string_view text, std::size_t vocab) {
  std::vector<std::int32_t> tokens;
  tokens.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= vocab)
      return fail("text: byte {} at offset {} is outside the vocabulary, expected less than {}", byte, i,
                  vocab);
    tokens.push_back(byte);
  }
  return tokens;
}

Result<void> parse_configuration(std::string_view text, const std::string& label,
                                 Tokenizer::Implementation& it) {
  DRAFTSCOPE_TRY_ASSIGN(const auto document, parse_python_json(text, label, PythonNaN::text));
  DRAFTSCOPE_TRY_ASSIGN(it.chat, tokenizer::ChatTemplate::parse(JsonField(document, label)));
  return {};
}

// Reads chat_template.json, where processors keep the template, if there is none so far. Of templates by name
// it only notes that there are some: nothing here asks for one of them.
Result<void> read_further_templates(const std::filesystem::path& folder, tokenizer::ChatTemplate& chat) {
  std::error_code ignored;
  if (const auto file = folder / "chat_template.json";
      !chat.present() && std::filesystem::exists(file, ignored)) {
    DRAFTSCOPE_TRY_ASSIGN(const auto text, read_text_file(file, max_tokenizer_bytes));
    DRAFTSCOPE_TRY_ASSIGN(const auto document, parse_python_json(text, file.string(), PythonNaN::text));
    DRAFTSCOPE_TRY_ASSIGN(const auto source, JsonField(document, file.string())["chat_template"].text());
    chat.set_source(source, file.string());
  }
  const auto named = folder / "additional_chat_templates";
  if (!chat.present() && std::filesystem::is_directory(named, ignored))
    chat.set_problem(fmt::format("{}: found templates with names, expected a default in chat_template.jinja",
                                 named.string()));
  return {};
}

template <typename Step>
bool has_step(const std::vector<tokenizer::DecoderStep>& steps) {
  return std::any_of(steps.begin(), steps.end(),
                     [](const tokenizer::DecoderStep& step) { return std::holds_alternative<Step>(step); });
}

}  // namespace

Tokenizer::Tokenizer(std::shared_ptr<const Implementation> implementation)
    : implementation_(std::move(implementation)) {}

Result<Tokenizer> Tokenizer::parse(std::string_view tokenizer_json, std::string_view tokenizer_config_json) {
  auto implementation = std::make_shared<Implementation>();
  DRAFTSCOPE_TRY(tokenizer::parse_tokenizer(tokenizer_json, "tokenizer.json", *implementation));
  if (!tokenizer_config_json.empty())
    DRAFTSCOPE_TRY(parse_configuration(tokenizer_config_json, "tokenizer_config.json", *implementation));
  return Tokenizer(std::move(implementation));
}

Result<Tokenizer> Tokenizer::load(const std::filesystem::path& path) {
  auto implementation = std::make_shared<Implementation>();
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) {
    DRAFTSCOPE_TRY_ASSIGN(const auto file, gguf::open_gguf_file(path));
    DRAFTSCOPE_TRY(tokenizer::read_gguf_tokenizer(file.header.metadata, *implementation));
    DRAFTSCOPE_TRY(check_watched_files());
    return Tokenizer(std::move(implementation));
  }
  const std::filesystem::path& folder = path;
  const auto file = folder / "tokenizer.json";
  DRAFTSCOPE_TRY_ASSIGN(const auto text, read_text_file(file, max_tokenizer_bytes));
  DRAFTSCOPE_TRY(tokenizer::parse_tokenizer(text, file.string(), *implementation));
  if (const auto configuration = folder / "tokenizer_config.json";
      std::filesystem::exists(configuration, ignored)) {
    DRAFTSCOPE_TRY_ASSIGN(const auto configuration_text, read_text_file(configuration, max_tokenizer_bytes));
    DRAFTSCOPE_TRY(parse_configuration(configuration_text, configuration.string(), *implementation));
  }
  // Newer checkpoints store the template in a file next to the configuration.
  if (const auto source = folder / "chat_template.jinja"; std::filesystem::exists(source, ignored)) {
    DRAFTSCOPE_TRY_ASSIGN(const auto source_text, read_text_file(source, max_tokenizer_bytes));
    implementation->chat.set_source(source_text, source.string());
  }
  DRAFTSCOPE_TRY(read_further_templates(folder, implementation->chat));
  return Tokenizer(std::move(implementation));
}

Tokenizer Tokenizer::bytes(std::int32_t vocab) {
  auto implementation = std::make_shared<Implementation>();
  implementation->raw_bytes = true;
  implementation->decoder = {tokenizer::JoinBytes{false}};
  for (std::int32_t token = 0; token < vocab; ++token) {
    std::string piece =
        token < byte_values ? std::string(1, static_cast<char>(token)) : fmt::format("⟨{}⟩", token);
    implementation->token_ids.emplace(piece, token);
    implementation->pieces.push_back(std::move(piece));
  }
  implementation->special.resize(implementation->pieces.size());
  return Tokenizer(std::move(implementation));
}

Result<std::vector<std::int32_t>> Tokenizer::encode(std::string_view text,
                                                    const EncodeOptions& options) const {
  const Implementation& it = *implementation_;
  // Positions within a piece are 32 bits wide.
  constexpr std::size_t longest_text = std::numeric_limits<std::int32_t>::max() / 4;
  if (text.size() > longest_text)
    return fail("text: is {} bytes long, expected at most {}", text.size(), longest_text);
  if (const auto offset = tokenizer::first_invalid_utf8(text))
    return fail("text: found 0x{1:02X} at byte {0}, expected valid UTF-8", *offset,
                static_cast<unsigned char>(text[*offset]));
  if (it.raw_bytes) return encode_bytes(text, it.pieces.size());
  std::vector<std::int32_t> tokens;
  tokenizer::StepBudget budget("text", text.size());
  DRAFTSCOPE_TRY_ASSIGN(const auto segments,
                        it.unnormalized_tokens.segments(text, options.parse_special_tokens, budget));
  for (const Segment& segment : segments) {
    if (segment.token != Segment::text) {
      tokens.push_back(segment.token);
    } else {
      DRAFTSCOPE_TRY(encode_text(it, slice(text, segment.range), segment.range.begin == 0,
                                 options.parse_special_tokens, budget, tokens));
    }
  }
  if (!options.add_special_tokens) return tokens;
  return it.post_processor.apply(std::move(tokens), budget);
}

std::string Tokenizer::decode(std::span<const std::int32_t> tokens, bool skip_special_tokens) const {
  StreamDecoder decoder(*this, skip_special_tokens);
  std::string text;
  for (const std::int32_t token : tokens) text += decoder.next(token);
  text += decoder.finish();
  return text;
}

std::string Tokenizer::text_of(std::int32_t token) const {
  // Decoders remove a space from the first piece of a text, so the token is decoded after itself.
  std::string first = decode(std::array{token}, false);
  // Two parts of characters may form a whole one.
  if (first.find(tokenizer::replacement_character) != std::string::npos) return first;
  const std::string both = decode(std::array{token, token}, false);
  return both.size() > first.size() ? both.substr(first.size()) : std::string();
}

std::int32_t Tokenizer::vocab_size() const {
  return static_cast<std::int32_t>(implementation_->pieces.size());
}

std::int32_t Tokenizer::model_vocab_size() const {
  const std::int32_t size = implementation_->model_vocab_size;
  return size > 0 ? size : vocab_size();
}

std::span<const std::string> Tokenizer::notes() const {
  return implementation_->notes;
}

std::optional<std::string_view> Tokenizer::piece(std::int32_t token) const {
  if (token < 0 || token >= vocab_size()) return std::nullopt;
  const std::string& text = implementation_->pieces[static_cast<std::size_t>(token)];
  if (text.empty() && token_id(text) != token) return std::nullopt;
  return text;
}

std::optional<std::int32_t> Tokenizer::token_id(std::string_view piece) const {
  const auto it = implementation_->token_ids.find(piece);
  if (it == implementation_->token_ids.end()) return std::nullopt;
  return it->second;
}

bool Tokenizer::is_special(std::int32_t token) const {
  return token >= 0 && token < vocab_size() && implementation_->special[static_cast<std::size_t>(token)];
}

std::string_view Tokenizer::kind() const {
  if (implementation_->raw_bytes) return "bytes";
  if (has_step<tokenizer::JoinBytes>(implementation_->decoder)) return "byte-level BPE";
  return has_step<tokenizer::ByteFallback>(implementation_->decoder) ? "BPE with byte fallback" : "BPE";
}

bool Tokenizer::has_chat_template() const {
  return implementation_->chat.present();
}

std::optional<std::string> Tokenizer::chat_template_problem() const {
  const Message message{.role = "user", .content = "?"};
  const auto text = apply_chat_template(std::span(&message, 1));
  if (text || !has_chat_template()) return std::nullopt;
  return text.error().message;
}

Result<void> Tokenizer::set_template_arguments(std::string_view json) {
  if (!has_chat_template())
    return fail("found template arguments, expected none: the model has no chat template");
  DRAFTSCOPE_TRY(tokenizer::read_template_arguments(json));
  template_arguments_ = json;
  return {};
}

Result<std::string> Tokenizer::apply_chat_template(std::span<const Message> messages) const {
  return implementation_->chat.apply(messages, template_arguments_);
}

}  // namespace draftscope::engine
