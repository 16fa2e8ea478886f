// SPDX-License-Identifier: GPL-3.0-or-later
#include "passes.h"

#include <draftscope/base/clock.h>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace draftscope::bench {

namespace {

std::int32_t token_at(const speculation::ModelShape& shape, std::int32_t position) {
  constexpr std::int64_t multiplier = 48271;
  return static_cast<std::int32_t>((multiplier * (position + 1)) % shape.vocab);
}

}  // namespace

std::vector<std::int32_t> some_tokens(const speculation::ModelShape& shape, std::int32_t count) {
  std::vector<std::int32_t> tokens;
  tokens.reserve(static_cast<std::size_t>(count));
  for (std::int32_t i = 0; i < count; ++i) tokens.push_back(token_at(shape, i));
  return tokens;
}

std::vector<std::int32_t> tokens_in(const std::string& path, std::int32_t count) {
  std::ifstream file(path);
  std::vector<std::int32_t> tokens;
  for (std::int32_t token = 0; std::ssize(tokens) < count && file >> token;) tokens.push_back(token);
  if (std::ssize(tokens) < count)
    throw std::runtime_error(fmt::format("{}: found {} token ids, expected {}", path, tokens.size(), count));
  return tokens;
}

void Passes::prefill(std::int32_t rows) {
  for (std::int32_t done = 0; done < rows;) {
    const std::int32_t count = std::min(backend_.max_rows(), rows - done);
    rows_.clear();
    for (std::int32_t i = done; i < done + count; ++i)
      rows_.push_back({token_at(backend_.shape(), i), -1, i});
    engine::Batch batch;
    batch.rows = rows_;
    batch.committed = done;
    batch.first_row = done;
    batch.layers = {0, backend_.shape().n_layers};
    expect(backend_.forward(batch, outputs_));
    done += count;
  }
}

double Passes::seconds(std::int32_t rows, std::int32_t context, std::int32_t n_layers) {
  rows_.clear();
  for (std::int32_t i = 0; i < rows; ++i)
    rows_.push_back({token_at(backend_.shape(), context + i), -1, context + i});
  engine::Batch batch;
  batch.rows = rows_;
  batch.committed = context;
  batch.first_row = context;
  batch.layers = {0, n_layers};
  batch.wanted.head = true;
  batch.wanted.top_k = 1;
  const std::int64_t start_ns = now_ns();
  expect(backend_.forward(batch, outputs_));
  return static_cast<double>(now_ns() - start_ns) * 1e-9;
}

}  // namespace draftscope::bench
