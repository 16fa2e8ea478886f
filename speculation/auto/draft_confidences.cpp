// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/auto/draft_confidences.h>

#include <algorithm>

namespace draftscope::speculation {

namespace {

constexpr double confidence_half_life = 400.0;  // tokens
constexpr double confidence_prior = 4.0;        // tokens, over all confidences

}  // namespace

DraftConfidences::DraftConfidences(double acceptance)
    : expected_(acceptance), counts_(thresholds.size(), confidence_half_life) {}

void DraftConfidences::add(double confidence, bool right) {
  const auto above = std::upper_bound(thresholds.begin() + 1, thresholds.end(), confidence);
  counts_.fade();
  counts_.add(static_cast<std::size_t>(above - thresholds.begin()) - 1, right);
}

double DraftConfidences::judged() const {
  double sum = 0.0;
  for (std::size_t i = 0; i < counts_.size(); ++i) sum += counts_.weight(i);
  return sum;
}

DraftConfidences::Shares DraftConfidences::by_confidence() const {
  Shares shares;
  const double all = judged() + confidence_prior;
  const double prior = confidence_prior / static_cast<double>(shares.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    shares[i].share = (counts_.weight(i) + prior) / all;
    shares[i].right = counts_.share(i, expected_, prior);
  }
  // Pool adjacent violators.
  std::array<Share, thresholds.size()> blocks;
  std::array<std::size_t, thresholds.size()> sizes{};
  std::size_t count = 0;
  for (const Share& share : shares) {
    blocks[count] = share;
    sizes[count++] = 1;
    while (count > 1 && blocks[count - 1].right < blocks[count - 2].right) {
      Share& below = blocks[count - 2];
      const Share& top = blocks[count - 1];
      below.right = (below.right * below.share + top.right * top.share) / (below.share + top.share);
      below.share += top.share;
      sizes[count - 2] += sizes[count - 1];
      --count;
    }
  }
  std::size_t i = 0;
  for (std::size_t block = 0; block < count; ++block)
    for (std::size_t end = i + sizes[block]; i < end; ++i) shares[i].right = blocks[block].right;
  return shares;
}

}  // namespace draftscope::speculation
