// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/exchange.h"

#include <draftscope/base/to_size.h>

#include <algorithm>
#include <array>
#include <utility>

namespace draftscope::cli {

std::string_view completion_end_name(CompletionEnd end) {
  static constexpr std::array<std::string_view, completion_ends> names{"stop", "length", "abort", "error"};
  return names.at(static_cast<std::size_t>(end));
}

Exchange::Refusal Exchange::submit(const std::shared_ptr<Completion>& completion) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return Refusal::closed;
  // The one that is decoded next takes no place from those that wait.
  if (waiting_.size() >= max_waiting_ + (running_ ? 0 : 1)) {
    ++counts_.refused;
    return Refusal::full;
  }
  completion->number = ++submitted_;
  waiting_.push_back(completion);
  ++present_;
  changed_.notify_all();
  return Refusal::none;
}

Exchange::Piece Exchange::take(Completion& completion, std::chrono::milliseconds max_wait) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, max_wait, [&] { return !completion.text_.empty() || completion.result_; });
  return {std::exchange(completion.text_, {}), completion.tokens_, completion.result_};
}

void Exchange::leave(const std::shared_ptr<Completion>& completion) {
  const std::lock_guard lock(mutex_);
  --present_;
  completion->cancelled = true;
  if (std::erase(waiting_, completion) > 0) ++counts_.ended[static_cast<std::size_t>(CompletionEnd::abort)];
  changed_.notify_all();
}

std::shared_ptr<Completion> Exchange::next(std::chrono::milliseconds max_wait) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, max_wait, [&] { return !waiting_.empty() || is_closed_; });
  if (waiting_.empty()) return nullptr;
  running_ = std::move(waiting_.front());
  waiting_.pop_front();
  return running_;
}

void Exchange::add_first_token() {
  const std::lock_guard lock(mutex_);
  ++counts_.generation_tokens;
}

void Exchange::add_round(const traces::Round& round) {
  const std::lock_guard lock(mutex_);
  counts_.generation_tokens += round.emitted;
  if (round.drafted == 0) return;
  ++counts_.drafts;
  counts_.draft_tokens += round.drafted;
  counts_.accepted_tokens += round.accepted;
  std::vector<std::int64_t>& accepted = counts_.accepted_per_position;
  accepted.resize(std::max(accepted.size(), to_size(std::max(round.tree_depth, round.accepted))));
  for (std::int32_t position = 0; position < round.accepted; ++position) ++accepted.at(to_size(position));
}

void Exchange::add_text(Completion& completion, std::string_view text, std::int64_t completion_tokens) {
  if (text.empty()) return;
  const std::lock_guard lock(mutex_);
  completion.text_ += text;
  completion.tokens_ = completion_tokens;
  changed_.notify_all();
}

void Exchange::finish(Completion& completion, CompletionResult result) {
  const std::lock_guard lock(mutex_);
  ++counts_.ended[static_cast<std::size_t>(result.end)];
  if (result.end != CompletionEnd::error)
    counts_.prompt_tokens += static_cast<std::int64_t>(completion.prompt.size());
  completion.result_ = std::move(result);
  running_ = nullptr;
  changed_.notify_all();
}

void Exchange::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  for (const std::shared_ptr<Completion>& completion : waiting_) {
    completion->result_ = CompletionResult{.end = CompletionEnd::abort};
    ++counts_.ended[static_cast<std::size_t>(CompletionEnd::abort)];
  }
  waiting_.clear();
  if (running_) running_->cancelled = true;
  changed_.notify_all();
}

bool Exchange::is_closed() const {
  const std::lock_guard lock(mutex_);
  return is_closed_;
}

void Exchange::wait_until_left(std::chrono::milliseconds max_wait) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, max_wait, [&] { return present_ == 0; });
}

ServedCounts Exchange::counts() const {
  const std::lock_guard lock(mutex_);
  ServedCounts counts = counts_;
  counts.running = running_ ? 1 : 0;
  counts.waiting = static_cast<std::int64_t>(waiting_.size());
  return counts;
}

}  // namespace draftscope::cli
