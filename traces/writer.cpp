// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/traces/writer.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "storage/batch.h"
#include "storage/storage.h"

namespace draftscope::traces {

// Rows go through three places. `staged_` belongs to the recording thread and needs no lock; at a round
// boundary it is published to `pending_`, under the lock; the writer's thread swaps that out and commits it.
class Writer::Implementation {
 public:
  Implementation(Storage storage, WriterOptions options) : storage_(std::move(storage)), options_(options) {
    thread_ = std::thread([this] { write_until_closed(); });
  }

  // ---- recording thread ----

  std::int64_t intern(std::string_view text) {
    const auto found = strings_.find(std::string(text));
    if (found != strings_.end()) return found->second;
    const auto id = static_cast<std::int64_t>(strings_.size()) + 1;
    strings_.emplace(text, id);
    stage(staged_.strings, StringRow{id, std::string(text)});
    return id;
  }

  std::int64_t intern_layer_set(LayerSet layer_set) {
    std::string key = fmt::format("{}/{}/{}/", layer_set.n_layers, layer_set.exit_layer, layer_set.origin);
    key.append(layer_set.skipped.begin(), layer_set.skipped.end());
    const auto [entry, added] = layer_sets_.try_emplace(std::move(key), layer_sets_.size() + 1);
    if (added) {
      layer_set.id = entry->second;
      stage(staged_.layer_sets, std::move(layer_set));
    }
    return entry->second;
  }

  template <typename Record>
  void stage(std::vector<Record>& list, Record row) {
    if (failed_) return;
    list.push_back(std::move(row));
    publish_at_boundary();
  }

  std::int64_t open_round() {
    open_rounds_.push_back(++rounds_);
    return rounds_;
  }

  void add_round(Round round, std::span<const DraftToken> draft_tokens) {
    std::erase(open_rounds_, round.id);
    if (failed_) return;
    for (DraftToken token : draft_tokens) {
      token.round = round.id;
      staged_.draft_tokens.push_back(token);
    }
    stage(staged_.rounds, round);
  }

  /// A request ends: rounds that were opened and never added will not come any more. Device activity of
  /// theirs may.
  void abandon_rounds() {
    abandoned_rounds_.insert(open_rounds_.begin(), open_rounds_.end());
    for (const std::int64_t round : open_rounds_) {
      for (Span& span : staged_.spans)
        if (span.round == round) span.round = 0;
      for (Kernel& kernel : staged_.kernels)
        if (kernel.round == round) kernel.round = 0;
      for (Decision& decision : staged_.decisions)
        if (decision.round == round) decision.round = 0;
    }
    open_rounds_.clear();
  }

  std::int64_t add_decision(Decision decision) {
    decision.id = ++decisions_;
    if (abandoned_rounds_.contains(decision.round)) decision.round = 0;
    stage(staged_.decisions, std::move(decision));
    return decisions_;
  }

  void add_shadow_tokens(std::span<const ShadowToken> rows) {
    if (failed_ || rows.empty()) return;
    staged_.shadow_tokens.insert(staged_.shadow_tokens.end(), rows.begin(), rows.end());
    publish_at_boundary();
  }

  void add_kernels(std::span<const Kernel> kernels) {
    if (abandoned_rounds_.empty()) return add_droppable(staged_.kernels, kernels, dropped_kernels_);
    std::vector<Kernel> rows(kernels.begin(), kernels.end());
    for (Kernel& row : rows)
      if (abandoned_rounds_.contains(row.round)) row.round = 0;
    add_droppable(staged_.kernels, std::span<const Kernel>(rows), dropped_kernels_);
  }

  template <typename Record>
  void add_droppable(std::vector<Record>& list, std::span<const Record> rows,
                     std::atomic<std::int64_t>& dropped) {
    if (failed_ || rows.empty()) return;
    const std::size_t waiting = droppable_waiting_.load(std::memory_order_relaxed);
    const std::size_t room = options_.queue_rows - std::min(waiting, options_.queue_rows);
    // The first rows stay: parents come before their children.
    const std::size_t taken = std::min(room, rows.size());
    list.insert(list.end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(taken));
    droppable_waiting_.fetch_add(taken, std::memory_order_relaxed);
    dropped.fetch_add(static_cast<std::int64_t>(rows.size() - taken), std::memory_order_relaxed);
    publish_at_boundary();
  }

  Result<void> close() {
    if (!thread_.joinable()) return result();
    abandon_rounds();
    publish_at_boundary();
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake_.notify_one();
    thread_.join();
    if (!failed_)
      if (auto finished = storage_.finish(counts()); !finished) keep_error(finished.error());
    storage_.release();
    return result();
  }

  [[nodiscard]] bool failed() const { return failed_; }

  [[nodiscard]] WriterCounts counts() const {
    return {written_rows_, dropped_spans_, dropped_kernels_, dropped_counters_};
  }

  Batch staged_;
  std::int64_t runs_ = 0, prompts_ = 0, tracks_ = 0, requests_ = 0, rounds_ = 0, decisions_ = 0, spans_ = 0,
               kernels_ = 0;
  std::atomic<std::int64_t> dropped_spans_{0}, dropped_kernels_{0}, dropped_counters_{0};

 private:
  // While a round is open its rows wait, so that no commit ever holds a span of a round that is not there.
  void publish_at_boundary() {
    if (!open_rounds_.empty() || failed_) return;
    bool wake = false;
    {
      const std::lock_guard lock(mutex_);
      const std::size_t before = pending_.rows();
      append(pending_, staged_);
      const std::size_t after = pending_.rows();
      wake =
          before == 0 || (before < options_.rows_per_transaction && after >= options_.rows_per_transaction);
    }
    if (wake) wake_.notify_one();
  }

  // ---- writer's thread ----

  void write_until_closed() {
    Batch batch;
    for (bool last = false; !last;) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return closing_ || pending_.rows() > 0; });
        wake_.wait_for(lock, std::chrono::nanoseconds(options_.transaction_ns),
                       [this] { return closing_ || pending_.rows() >= options_.rows_per_transaction; });
        last = closing_;
        append(batch, pending_);
      }
      if (!failed_ && batch.rows() > 0) {
        // In the order of their key the table's pages fill one after another, to the end.
        const auto key = [](const ShadowToken& row) {
          return std::tie(row.request, row.layer, row.position);
        };
        if (!std::ranges::is_sorted(batch.shadow_tokens, {}, key))
          std::ranges::sort(batch.shadow_tokens, {}, key);
        auto written = storage_.write(batch, options_.rows_per_transaction, [this](std::size_t rows) {
          written_rows_.fetch_add(static_cast<std::int64_t>(rows), std::memory_order_relaxed);
        });
        if (!written) keep_error(written.error());
      }
      droppable_waiting_.fetch_sub(batch.droppable_rows(), std::memory_order_relaxed);
      clear(batch);
    }
  }

  void keep_error(Error error) {
    const std::lock_guard lock(mutex_);
    if (!failed_) error_ = std::move(error);
    failed_ = true;
  }

  [[nodiscard]] Result<void> result() {
    const std::lock_guard lock(mutex_);
    if (failed_) return tl::unexpected<Error>(error_);
    return {};
  }

  Storage storage_;  // the writer's thread's until it has been joined
  WriterOptions options_;
  std::unordered_map<std::string, std::int64_t> strings_, layer_sets_;
  std::vector<std::int64_t> open_rounds_;
  std::unordered_set<std::int64_t> abandoned_rounds_;

  std::mutex mutex_;  // guards pending_, closing_ and error_
  std::condition_variable wake_;
  Batch pending_;
  bool closing_ = false;
  Error error_;

  std::atomic<bool> failed_{false};
  std::atomic<std::size_t> droppable_waiting_{0};  // staged, pending or being written
  std::atomic<std::int64_t> written_rows_{0};
  std::thread thread_;
};

Writer::Writer(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}

Writer::~Writer() {
  static_cast<void>(close());
}

Result<std::unique_ptr<Writer>> Writer::create(const std::filesystem::path& path, const Meta& meta,
                                               const WriterOptions& options) {
  DRAFTSCOPE_TRY_ASSIGN(Storage storage, Storage::create(path, meta, options.overwrite));
  try {
    return std::unique_ptr<Writer>(new Writer(std::make_unique<Implementation>(std::move(storage), options)));
  } catch (const std::system_error& error) {
    return fail("{}: the writer's thread can't be started: {}", path.string(), error.what());
  }
}

void Writer::set_meta(std::string key, std::string text) {
  implementation_->stage(implementation_->staged_.meta, std::pair(std::move(key), std::move(text)));
}

std::int64_t Writer::intern(std::string_view text) {
  return implementation_->intern(text);
}

std::int64_t Writer::add(Run run) {
  const std::int64_t id = run.id = ++implementation_->runs_;
  implementation_->stage(implementation_->staged_.runs, std::move(run));
  return id;
}

std::int64_t Writer::add(Prompt prompt) {
  const std::int64_t id = prompt.id = ++implementation_->prompts_;
  implementation_->stage(implementation_->staged_.prompts, std::move(prompt));
  return id;
}

std::int64_t Writer::add(Track track) {
  const std::int64_t id = track.id = ++implementation_->tracks_;
  implementation_->stage(implementation_->staged_.tracks, std::move(track));
  return id;
}

std::int64_t Writer::add(LayerSet layer_set) {
  return implementation_->intern_layer_set(std::move(layer_set));
}

std::int64_t Writer::next_request_id() {
  return ++implementation_->requests_;
}
std::int64_t Writer::next_round_id() {
  return implementation_->open_round();
}
std::int64_t Writer::next_span_id() {
  return ++implementation_->spans_;
}
std::int64_t Writer::next_kernel_id() {
  return ++implementation_->kernels_;
}

void Writer::begin(Request request) {
  request.end_ns = 0;  // what tells a request that a crash cut off
  implementation_->stage(implementation_->staged_.requests, std::move(request));
}

void Writer::finish(Request request) {
  implementation_->abandon_rounds();
  implementation_->stage(implementation_->staged_.requests, std::move(request));
}

void Writer::add(Round round, std::span<const DraftToken> draft_tokens) {
  implementation_->add_round(round, draft_tokens);
}

std::int64_t Writer::add(Decision decision) {
  return implementation_->add_decision(std::move(decision));
}

void Writer::add(std::span<const ShadowToken> shadow_tokens) {
  implementation_->add_shadow_tokens(shadow_tokens);
}

void Writer::add(TokenText token_text) {
  implementation_->stage(implementation_->staged_.token_texts, std::move(token_text));
}

void Writer::add(std::span<const Span> spans) {
  implementation_->add_droppable(implementation_->staged_.spans, spans, implementation_->dropped_spans_);
}

void Writer::add(std::span<const Kernel> kernels) {
  implementation_->add_kernels(kernels);
}

void Writer::add(std::span<const Counter> counters) {
  implementation_->add_droppable(implementation_->staged_.counters, counters,
                                 implementation_->dropped_counters_);
}

bool Writer::failed() const {
  return implementation_->failed();
}
WriterCounts Writer::counts() const {
  return implementation_->counts();
}
Result<void> Writer::close() {
  return implementation_->close();
}

}  // namespace draftscope::traces
