// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/traces/writer.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "storage/columns.h"
#include "writing/batch.h"
#include "writing/storage.h"

namespace draftscope::traces {

// Rows go through three places. `staged_` belongs to the recording thread and needs no lock; at a round
// boundary it is published to `pending_`, under the lock; the writer's thread swaps that out and commits it.
class Writer::Implementation {
 public:
  Implementation(Storage storage, WriterOptions options)
      : storage_(std::move(storage)),
        options_(options),
        no_memory_{fmt::format("{}: can't be written: out of memory", storage_.name())} {
    thread_ = std::thread([this] { catch_bad_alloc([this] { write_until_closed(); }); });
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  ~Implementation() { end(); }

  /// Calls `work`. If it runs out of memory, that becomes the recording's error, and the rows that it was to
  /// stage are lost like all later ones.
  template <typename Work>
  auto catch_bad_alloc(Work work) noexcept -> decltype(work()) {
    try {
      return work();
    } catch (const std::bad_alloc&) {
      const std::lock_guard lock(mutex_);
      keep_no_memory();
    }
    return decltype(work())();
  }

  /// Calls a method and handles lack of memory as the overload above does.
  template <typename Method, typename... Arguments>
  auto call(Method method, Arguments&&... arguments) noexcept {
    return catch_bad_alloc([&] { return std::invoke(method, *this, std::forward<Arguments>(arguments)...); });
  }

  // ---- recording thread ----

  StringId intern(std::string_view text) {
    const auto found = strings_.find(std::string(text));
    if (found != strings_.end()) return found->second;
    const auto id = StringId::from(strings_.size() + 1);
    strings_.emplace(text, id);
    stage(StringRow{id, std::string(text)});
    return id;
  }

  LayerSetId intern_layer_set(LayerSet layer_set) {
    std::string key = fmt::format("{}/{}/{}/", layer_set.n_layers, layer_set.exit_layer, layer_set.origin);
    key.append(layer_set.skipped.begin(), layer_set.skipped.end());
    const auto [entry, added] =
        layer_sets_.try_emplace(std::move(key), LayerSetId::from(layer_sets_.size() + 1));
    if (added) {
      layer_set.id = entry->second;
      stage(std::move(layer_set));
    }
    return entry->second;
  }

  void set_meta(std::string key, std::string text) {
    if (failed_) return;
    staged_.meta.emplace_back(std::move(key), std::move(text));
    publish_at_boundary();
  }

  template <typename Record>
  void stage(Record row) {
    if (failed_) return;
    staged_.list<Record>().push_back(std::move(row));
    publish_at_boundary();
  }

  template <typename Record>
  auto next_id() {
    return decltype(Record::id)::from(++std::get<LastId<Record>>(last_ids_).number);
  }

  template <typename Record>
  auto add_with_id(Record row) {
    const auto id = row.id = next_id<Record>();
    stage(std::move(row));
    return id;
  }

  RoundId open_round() { return open_rounds_.emplace_back(next_id<Round>()); }

  void add_round(Round round, std::span<const DraftToken> draft_tokens) {
    std::erase(open_rounds_, round.id);
    if (failed_) return;
    for (DraftToken token : draft_tokens) {
      token.round_id = round.id;
      staged_.list<DraftToken>().push_back(token);
    }
    stage(round);
  }

  /// Counts a request that has begun.
  void request_began() { ++open_requests_; }
  /// Counts a request that has ended, unless it became known only when it was complete and so never began.
  void request_ended() { open_requests_ -= open_requests_ > 0 ? 1 : 0; }

  /// Forgets rounds that were opened and never added, since they cannot come after their request has ended.
  /// Their device activity still may.
  void abandon_rounds() {
    abandoned_rounds_.insert(open_rounds_.begin(), open_rounds_.end());
    forget_rounds(staged_.list<Span>(), open_rounds_);
    forget_rounds(staged_.list<Kernel>(), open_rounds_);
    forget_rounds(staged_.list<Decision>(), open_rounds_);
    open_rounds_.clear();
  }

  DecisionId add_decision(Decision decision) {
    if (abandoned_rounds_.contains(decision.round_id)) decision.round_id = 0;
    return add_with_id(std::move(decision));
  }

  void add_shadow_tokens(std::span<const ShadowToken> rows) {
    if (failed_ || rows.empty()) return;
    auto& list = staged_.list<ShadowToken>();
    list.insert(list.end(), rows.begin(), rows.end());
    publish_at_boundary();
  }

  void add_kernels(std::span<const Kernel> kernels) {
    if (abandoned_rounds_.empty()) return add_droppable(kernels);
    std::vector<Kernel> rows(kernels.begin(), kernels.end());
    for (Kernel& row : rows)
      if (abandoned_rounds_.contains(row.round_id)) row.round_id = 0;
    add_droppable(std::span<const Kernel>(rows));
  }

  template <typename Record>
  void add_droppable(std::span<const Record> rows) {
    static_assert(table_of<Record>.intake == Intake::droppable);
    if (failed_ || rows.empty()) return;
    const std::size_t waiting = droppable_waiting_.load(std::memory_order_relaxed);
    const std::size_t room = options_.queue_rows - std::min(waiting, options_.queue_rows);
    // The first rows are kept, because parents come before their children.
    const std::size_t taken = std::min(room, rows.size());
    auto& list = staged_.list<Record>();
    list.insert(list.end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(taken));
    droppable_waiting_.fetch_add(taken, std::memory_order_relaxed);
    std::get<Dropped<Record>>(dropped_).rows.fetch_add(static_cast<std::int64_t>(rows.size() - taken),
                                                       std::memory_order_relaxed);
    publish_at_boundary();
  }

  /// Keeps the new file. Called before anything is staged, while the thread still waits.
  void keep_file() { storage_.keep(); }

  void end() noexcept {
    if (!thread_.joinable()) return;
    catch_bad_alloc([this] {
      abandon_rounds();
      publish_at_boundary();
    });
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake_.notify_one();
    thread_.join();
    catch_bad_alloc([this] {
      if (failed_) return;
      if (auto finished = storage_.finish(counts(), open_requests_ == 0); !finished)
        keep_error(std::move(finished).error());
    });
    storage_.release();
  }

  /// The first error of the recording.
  [[nodiscard]] Result<void> result() {
    const std::lock_guard lock(mutex_);
    if (failed_) return tl::unexpected<Error>(error_);
    return {};
  }

  [[nodiscard]] bool failed() const { return failed_; }

  [[nodiscard]] WriterCounts counts() const {
    return {written_rows_, dropped<Span>(), dropped<Kernel>(), dropped<Counter>()};
  }

 private:
  template <typename Record>
  struct LastId {
    std::int64_t number = 0;
  };
  template <typename Record>
  struct Dropped {
    std::atomic<std::int64_t> rows{0};
  };

  template <typename Record>
  [[nodiscard]] std::int64_t dropped() const {
    return std::get<Dropped<Record>>(dropped_).rows;
  }

  template <typename Record>
  static void forget_rounds(std::vector<Record>& rows, const std::vector<RoundId>& rounds) {
    for (Record& row : rows)
      if (std::ranges::find(rounds, row.round_id) != rounds.end()) row.round_id = 0;
  }

  // Rows wait while a round is open, so that no commit ever contains a span of a missing round.
  void publish_at_boundary() {
    if (!open_rounds_.empty() || failed_) return;
    bool wake = false;
    {
      const std::lock_guard lock(mutex_);
      const std::size_t before = pending_.rows();
      try {
        append(pending_, staged_);
      } catch (const std::bad_alloc&) {
        keep_no_memory();  // before anybody can take the half that was appended
        return;
      }
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
        auto& shadow_tokens = batch.list<ShadowToken>();
        const auto key = [](const ShadowToken& row) { return primary_key(row); };
        if (!std::ranges::is_sorted(shadow_tokens, {}, key)) std::ranges::sort(shadow_tokens, {}, key);
        auto written = storage_.write(batch, options_.rows_per_transaction, [this](std::size_t rows) {
          written_rows_.fetch_add(static_cast<std::int64_t>(rows), std::memory_order_relaxed);
        });
        if (!written) keep_error(std::move(written).error());
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

  /// Records the lack of memory. The caller has the lock. Needs no memory itself.
  void keep_no_memory() {
    if (!failed_) error_ = std::move(no_memory_);
    failed_ = true;
  }

  Batch staged_;
  PerTable<LastId> last_ids_;
  PerTable<Dropped> dropped_;

  Storage storage_;  // belongs to the writer's thread until it has been joined
  WriterOptions options_;
  std::unordered_map<std::string, StringId> strings_;
  std::unordered_map<std::string, LayerSetId> layer_sets_;
  std::vector<RoundId> open_rounds_;
  std::int64_t open_requests_ = 0;  // more than none at the end means that an exception was thrown
  std::unordered_set<RoundId> abandoned_rounds_;

  std::mutex mutex_;  // guards pending_, closing_, error_ and no_memory_
  std::condition_variable wake_;
  Batch pending_;
  bool closing_ = false;
  Error error_;
  Error no_memory_;  // becomes error_ when no other error can be made

  std::atomic<bool> failed_{false};
  std::atomic<std::size_t> droppable_waiting_{0};  // rows that are staged, pending or being written
  std::atomic<std::int64_t> written_rows_{0};
  std::thread thread_;
};

Writer::Writer(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}

Writer::~Writer() = default;

Result<std::unique_ptr<Writer>> Writer::create(const std::filesystem::path& path, const Meta& meta,
                                               const WriterOptions& options) {
  DRAFTSCOPE_TRY_ASSIGN(Storage storage, Storage::create(path, meta, options.overwrite));
  try {
    std::unique_ptr<Writer> writer(new Writer(std::make_unique<Implementation>(std::move(storage), options)));
    writer->implementation_->keep_file();
    return writer;
  } catch (const std::system_error& error) {
    return fail("{}: the writer's thread can't be started: {}", path.string(), error.what());
  }
}

void Writer::set_meta(std::string key, std::string text) {
  implementation_->call(&Implementation::set_meta, std::move(key), std::move(text));
}

StringId Writer::intern(std::string_view text) {
  return implementation_->call(&Implementation::intern, text);
}

RunId Writer::add(Run run) {
  return implementation_->call(&Implementation::add_with_id<Run>, std::move(run));
}
PromptId Writer::add(Prompt prompt) {
  return implementation_->call(&Implementation::add_with_id<Prompt>, std::move(prompt));
}
TrackId Writer::add(Track track) {
  return implementation_->call(&Implementation::add_with_id<Track>, std::move(track));
}
LayerSetId Writer::add(LayerSet layer_set) {
  return implementation_->call(&Implementation::intern_layer_set, std::move(layer_set));
}

RequestId Writer::next_request_id() {
  return implementation_->next_id<Request>();
}
RoundId Writer::next_round_id() {
  return implementation_->call(&Implementation::open_round);
}
SpanId Writer::next_span_id() {
  return implementation_->next_id<Span>();
}
KernelId Writer::next_kernel_id() {
  return implementation_->next_id<Kernel>();
}

void Writer::begin(Request request) {
  request.end_ns = 0;  // This marks a request that a crash cut off.
  implementation_->call(&Implementation::stage<Request>, std::move(request));
  implementation_->request_began();
}

void Writer::finish(Request request) {
  implementation_->request_ended();
  implementation_->call(&Implementation::abandon_rounds);
  implementation_->call(&Implementation::stage<Request>, std::move(request));
}

void Writer::add(Round round, std::span<const DraftToken> draft_tokens) {
  implementation_->call(&Implementation::add_round, round, draft_tokens);
}
DecisionId Writer::add(Decision decision) {
  return implementation_->call(&Implementation::add_decision, std::move(decision));
}
void Writer::add(std::span<const ShadowToken> shadow_tokens) {
  implementation_->call(&Implementation::add_shadow_tokens, shadow_tokens);
}
void Writer::add(TokenText token_text) {
  implementation_->call(&Implementation::stage<TokenText>, std::move(token_text));
}
void Writer::add(std::span<const Span> spans) {
  implementation_->call(&Implementation::add_droppable<Span>, spans);
}
void Writer::add(std::span<const Kernel> kernels) {
  implementation_->call(&Implementation::add_kernels, kernels);
}
void Writer::add(std::span<const Counter> counters) {
  implementation_->call(&Implementation::add_droppable<Counter>, counters);
}

bool Writer::failed() const {
  return implementation_->failed();
}
WriterCounts Writer::counts() const {
  return implementation_->counts();
}
Result<void> Writer::close() {
  implementation_->end();
  return implementation_->result();
}

}  // namespace draftscope::traces
