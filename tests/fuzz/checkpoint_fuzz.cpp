// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a safetensors file, or a config.json up to the first zero byte and a generation_config.json after
// it. Any input is read as either, or refused in one line. An accepted header tiles its file, and an accepted
// configuration is a sound shape.

#include <draftscope/speculation/model_config.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "checkpoint/quantised/quantisation_config.h"
#include "checkpoint/safetensors_header.h"
#include "promises.h"

namespace {

using namespace draftscope;
using namespace draftscope::engine;
using fuzz::require;
using fuzz::require_one_line;

void read_header(std::span<const std::byte> input) {
  const auto header = parse_safetensors_header(input, "input");
  if (!header) return require_one_line(header.error());
  std::uint64_t position = sizeof(std::uint64_t) + header->json_bytes;
  for (const auto& entry : header->entries) {
    require(entry.begin == position && entry.end >= entry.begin && entry.end <= input.size());
    position = entry.end;
  }
  require(position == input.size());
}

void read_config(std::string_view text) {
  const auto zero = text.find('\0');
  std::optional<speculation::ConfigText> generation;
  if (zero != std::string_view::npos)
    generation = speculation::ConfigText{text.substr(zero + 1), "generation"};
  const auto quantisation = parse_quantisation_config(text.substr(0, zero), "config");
  if (!quantisation) require_one_line(quantisation.error());
  if (quantisation && *quantisation) {
    const auto& block = (*quantisation)->block;
    require((*quantisation)->group >= 0 && ((*quantisation)->bits == 4 || (*quantisation)->bits == 8));
    require(!block || (block->rows > 0 && block->columns > 0));
  }
  const auto shape = speculation::parse_model_config({text.substr(0, zero), "config"}, generation);
  if (!shape) return require_one_line(shape.error());
  require(speculation::check_shape(*shape, "accepted").has_value());
  require(shape->q_width() > 0 && shape->kv_width() > 0);
  require(shape->bos_token >= -1 && shape->bos_token < shape->vocab);
  for (const auto token : shape->eos_tokens) require(token >= 0 && token < shape->vocab);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_header(std::as_bytes(std::span(data, size)));
  read_config({reinterpret_cast<const char*>(data), size});
  return 0;
}
