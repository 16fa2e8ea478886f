// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number.h>
#include <draftscope/traces/bulk_reader.h>
#include <draftscope/traces/merge.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "merge/merged_identity.h"
#include "merge/renumbered_ids.h"
#include "writing/paced_trace.h"

namespace draftscope::traces {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t rounds_per_part = 4096;

Result<ShardRecording> open_shard(const fs::path& path, const std::atomic<bool>& stopped) {
  DRAFTSCOPE_TRY_ASSIGN(BulkReader reader, BulkReader::open(path, stopped));
  ShardRecording shard{.path = path};
  DRAFTSCOPE_TRY_ASSIGN(shard.outline, reader.outline());
  const auto named = shard.outline.meta.find("shard");
  if (named == shard.outline.meta.end())
    return fail("{}: is no shard's recording, expected one of draftscope record --shard", path.string());
  auto parsed = parse_shard(named->second);
  if (!parsed) return fail("{}: meta.{}", path.string(), parsed.error().message);
  shard.shard = *parsed;
  return shard;
}

/// When a shard's recording began and ended, on its own clock.
struct Stretch {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

Stretch stretch_of(const Recording& outline) {
  const auto clock = [&](const char* key, std::int64_t absent) {
    const auto found = outline.meta.find(key);
    if (found == outline.meta.end()) return absent;
    return parse_number<std::int64_t>(found->second).value_or(absent);
  };
  Stretch stretch{clock("clock_start_monotonic_ns", 0), clock("clock_end_monotonic_ns", 0)};
  for (const Request& request : outline.requests) {
    stretch.start_ns = std::min(stretch.start_ns, request.start_ns);
    stretch.end_ns = std::max(stretch.end_ns, request.end_ns);
  }
  return stretch;
}

/// Lays the shards one behind another; returns when the last one ends.
std::int64_t lay_out(std::vector<ShardRecording>& shards) {
  std::int64_t end_ns = stretch_of(shards.front().outline).start_ns;
  for (ShardRecording& shard : shards) {
    const Stretch stretch = stretch_of(shard.outline);
    shard.shift_ns = end_ns - stretch.start_ns;
    end_ns = stretch.end_ns + shard.shift_ns;
  }
  return end_ns;
}

/// Adds a shard's rows under ids and on the clock of the merged recording.
class ShardCopy {
 public:
  ShardCopy(const ShardRecording& shard, BulkReader reader, PacedTrace& target, MergeSummary& summary)
      : shard_(shard), reader_(std::move(reader)), target_(target), summary_(summary) {}

  /// `done`: hears of the share of rows that are copied; false cancels.
  Result<void> run(const std::vector<RunId>& runs, const std::function<bool(double)>& done) {
    runs_ = &runs;
    DRAFTSCOPE_TRY(count_rows());
    done_ = &done;
    DRAFTSCOPE_TRY(copy_names());
    add_prompts_and_tracks();
    for (const LayerSet& set : shard_.outline.layer_sets) layer_sets_[set.id] = writer().add(set);
    DRAFTSCOPE_TRY(copy_requests());
    DRAFTSCOPE_TRY(copy_rounds());
    DRAFTSCOPE_TRY(copy_decisions());
    DRAFTSCOPE_TRY(copy_shadow_tokens());
    DRAFTSCOPE_TRY(copy_spans());
    DRAFTSCOPE_TRY(copy_kernels());
    return copy_counters();
  }

 private:
  Writer& writer() { return target_.writer(); }

  [[nodiscard]] std::int64_t shifted(std::int64_t ns) const { return ns + shard_.shift_ns; }

  template <typename Id>
  [[nodiscard]] static Id id_in(const std::unordered_map<Id, Id>& ids, Id id) {
    const auto found = ids.find(id);
    return found == ids.end() ? Id() : found->second;
  }

  Result<void> count_rows() {
    DRAFTSCOPE_TRY_ASSIGN(const auto ids, reader_.highest_ids());
    for (const TableCount& table : ids) {
      all_rows_ += table.rows;
      if (table.table == "rounds") last_round_ = table.rows;
    }
    return {};
  }

  /// One more row is copied. False: that is to be the last.
  bool copied() {
    constexpr std::int64_t rows_per_word = 16384;
    if (++copied_rows_ % rows_per_word == 0)
      is_cancelled_ = !(*done_)(static_cast<double>(copied_rows_) /
                                static_cast<double>(std::max(all_rows_, copied_rows_)));
    return !is_cancelled_ && !writer().failed();
  }

  [[nodiscard]] Result<void> unless_cancelled() const {
    if (is_cancelled_) return fail("merge cancelled");
    return {};
  }

  Result<void> copy_names() {
    DRAFTSCOPE_TRY_ASSIGN(const auto strings, reader_.strings());
    for (const auto& [id, text] : strings) strings_[id] = writer().intern(text);
    DRAFTSCOPE_TRY_ASSIGN(const auto texts, reader_.token_texts());
    for (const auto& [token, text] : texts) writer().add(TokenText{token, text});
    return {};
  }

  void add_prompts_and_tracks() {
    for (const Prompt& prompt : shard_.outline.prompts) prompts_[prompt.id] = writer().add(prompt);
    // Parents come first: a track refers to one with a lower id.
    std::vector<const Track*> tracks;
    for (const Track& track : shard_.outline.tracks) tracks.push_back(&track);
    std::ranges::sort(tracks, {}, &Track::id);
    for (const Track* track : tracks) {
      Track row = *track;
      row.parent_id = id_in(tracks_, row.parent_id);
      if (row.parent_id.is_none()) row.name = fmt::format("shard {}: {}", shard_.shard.index, row.name);
      tracks_[track->id] = writer().add(std::move(row));
    }
  }

  Result<void> copy_requests() {
    std::vector<const Request*> requests;
    for (const Request& request : shard_.outline.requests) requests.push_back(&request);
    std::ranges::sort(requests, {}, &Request::id);
    for (const Request* request : requests) {
      Request row = *request;
      row.id = writer().next_request_id();
      requests_.add(request->id, row.id);
      row.run_id = (*runs_)[run_place(request->run_id)];
      row.prompt_id = id_in(prompts_, row.prompt_id);
      for (std::int64_t* time : {&row.start_ns, &row.first_token_ns, &row.end_ns})
        if (*time != 0) *time = shifted(*time);
      writer().begin(row);
      target_.add(row);
      ++summary_.requests;
    }
    return {};
  }

  /// Runs of all shards have the same order.
  [[nodiscard]] std::size_t run_place(RunId id) const {
    const auto& runs = shard_.outline.runs;
    return static_cast<std::size_t>(std::ranges::find(runs, id, &Run::id) - runs.begin());
  }

  Result<void> copy_rounds() {
    std::vector<Round> rounds;
    std::vector<DraftToken> tokens;
    for (std::int64_t first = 1; first <= last_round_; first += rounds_per_part) {
      const IdRange part{first, first + rounds_per_part - 1};
      rounds.clear();
      tokens.clear();
      DRAFTSCOPE_TRY(reader_.rounds(part, [&](const Round& round) {
        rounds.push_back(round);
        return copied();
      }));
      DRAFTSCOPE_TRY(unless_cancelled());
      DRAFTSCOPE_TRY(reader_.draft_tokens(part, [&](const DraftToken& token) {
        tokens.push_back(token);
        return true;
      }));
      add_rounds(rounds, tokens);
    }
    return {};
  }

  void add_rounds(const std::vector<Round>& rounds, const std::vector<DraftToken>& tokens) {
    auto token = tokens.begin();
    for (Round round : rounds) {
      const auto begin =
          std::find_if(token, tokens.end(), [&](const DraftToken& t) { return t.round_id >= round.id; });
      token = std::find_if(begin, tokens.end(), [&](const DraftToken& t) { return t.round_id > round.id; });
      const RoundId id = writer().next_round_id();
      rounds_.add(round.id, id);
      round.id = id;
      round.request_id = requests_[round.request_id];
      round.layer_set_id = id_in(layer_sets_, round.layer_set_id);
      round.start_ns = shifted(round.start_ns);
      round.end_ns = shifted(round.end_ns);
      target_.add(round, std::span(begin, token));
      ++summary_.rounds;
    }
  }

  Result<void> copy_decisions() {
    DRAFTSCOPE_TRY(reader_.decisions([&](Decision decision) {
      decision.request_id = requests_[decision.request_id];
      decision.round_id = rounds_[decision.round_id];
      decision.kind_id = id_in(strings_, decision.kind_id);
      decision.start_ns = shifted(decision.start_ns);
      decision.end_ns = shifted(decision.end_ns);
      target_.add(decision);
      return copied();
    }));
    return unless_cancelled();
  }

  Result<void> copy_shadow_tokens() {
    DRAFTSCOPE_TRY_ASSIGN(Reader reader, Reader::open(shard_.path));
    std::vector<ShadowToken> of_request;
    const auto flush = [&] {
      if (!of_request.empty()) target_.add(std::span<const ShadowToken>(of_request));
      of_request.clear();
    };
    DRAFTSCOPE_TRY(reader.shadow_tokens([&](ShadowToken token) {
      token.request_id = requests_[token.request_id];
      if (!of_request.empty() && of_request.front().request_id != token.request_id) flush();
      of_request.push_back(token);
      return copied();
    }));
    DRAFTSCOPE_TRY(unless_cancelled());
    flush();
    return {};
  }

  Result<void> copy_spans() {
    DRAFTSCOPE_TRY(reader_.spans({}, [&](Span span) {
      const SpanId id = writer().next_span_id();
      spans_.add(span.id, id);
      span.id = id;
      span.parent_id = spans_[span.parent_id];
      place(span);
      span.name_id = id_in(strings_, span.name_id);
      target_.add(span);
      ++summary_.spans;
      return copied();
    }));
    return unless_cancelled();
  }

  Result<void> copy_kernels() {
    DRAFTSCOPE_TRY(reader_.kernels({}, [&](Kernel kernel) {
      kernel.id = writer().next_kernel_id();
      kernel.span_id = spans_[kernel.span_id];
      place(kernel);
      kernel.short_name_id = id_in(strings_, kernel.short_name_id);
      target_.add(kernel);
      ++summary_.kernels;
      return copied();
    }));
    return unless_cancelled();
  }

  Result<void> copy_counters() {
    DRAFTSCOPE_TRY(reader_.counters([&](Counter counter) {
      counter.track_id = id_in(tracks_, counter.track_id);
      counter.timestamp_ns = shifted(counter.timestamp_ns);
      target_.add(counter);
      return copied();
    }));
    return unless_cancelled();
  }

  template <typename Row>
  void place(Row& row) const {
    row.track_id = id_in(tracks_, row.track_id);
    row.request_id = requests_[row.request_id];
    row.round_id = rounds_[row.round_id];
    row.start_ns = shifted(row.start_ns);
    row.end_ns = shifted(row.end_ns);
  }

  const ShardRecording& shard_;
  BulkReader reader_;
  PacedTrace& target_;
  MergeSummary& summary_;
  const std::vector<RunId>* runs_ = nullptr;
  const std::function<bool(double)>* done_ = nullptr;
  std::unordered_map<StringId, StringId> strings_;
  std::unordered_map<PromptId, PromptId> prompts_;
  std::unordered_map<TrackId, TrackId> tracks_;
  std::unordered_map<LayerSetId, LayerSetId> layer_sets_;
  RenumberedIds<RequestId> requests_;
  RenumberedIds<RoundId> rounds_;
  RenumberedIds<SpanId> spans_;
  std::int64_t last_round_ = 0;
  std::int64_t all_rows_ = 0;
  std::int64_t copied_rows_ = 0;
  bool is_cancelled_ = false;
};

Result<void> expect_other_files(const std::vector<fs::path>& files, const fs::path& target) {
  if (files.empty()) return fail("found no file, expected shards to merge");
  std::error_code error;
  for (const fs::path& file : files)
    if (fs::equivalent(file, target, error))
      return fail("{}: is the same file as one that is merged, expected another", target.string());
  return {};
}

}  // namespace

Result<MergeSummary> merge_shards(const std::vector<fs::path>& files, const MergeOptions& options,
                                  const fs::path& target, const Progress& progress) {
  DRAFTSCOPE_TRY(expect_other_files(files, target));
  const std::atomic<bool> stopped = false;
  std::vector<ShardRecording> shards;
  std::int64_t all_bytes = 0;
  for (const fs::path& file : files) {
    DRAFTSCOPE_TRY_ASSIGN(ShardRecording shard, open_shard(file, stopped));
    shards.push_back(std::move(shard));
  }
  std::ranges::stable_sort(shards, {}, [](const ShardRecording& shard) { return shard.shard.index; });
  MergeSummary summary{.shards = static_cast<std::int32_t>(shards.size())};
  DRAFTSCOPE_TRY_ASSIGN(summary.missing, check_one_experiment(shards, options));
  std::vector<std::int64_t> bytes;
  for (const ShardRecording& shard : shards) {
    std::error_code error;
    const auto size = fs::file_size(shard.path, error);
    bytes.push_back(error ? 0 : static_cast<std::int64_t>(size));
    all_bytes += bytes.back();
  }

  const std::int64_t end_ns = lay_out(shards);
  DRAFTSCOPE_TRY_ASSIGN(PacedTrace whole, PacedTrace::create(target, options.overwrite));
  for (auto& [key, text] : merged_meta(shards, end_ns)) whole.writer().set_meta(key, text);
  std::vector<RunId> runs;
  for (const Run& run : shards.front().outline.runs) runs.push_back(whole.writer().add(run));
  std::int64_t done_bytes = 0;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const auto done = [&](double share) {
      return !progress ||
             progress(done_bytes + static_cast<std::int64_t>(share * static_cast<double>(bytes[i])),
                      all_bytes);
    };
    DRAFTSCOPE_TRY_ASSIGN(BulkReader reader, BulkReader::open(shards[i].path, stopped));
    DRAFTSCOPE_TRY(ShardCopy(shards[i], std::move(reader), whole, summary).run(runs, done));
    done_bytes += bytes[i];
    if (progress && !progress(done_bytes, all_bytes)) return fail("merge cancelled");
  }
  DRAFTSCOPE_TRY(whole.commit());
  return summary;
}

}  // namespace draftscope::traces
