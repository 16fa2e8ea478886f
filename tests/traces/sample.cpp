// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample.h"

#include <draftscope/traces/records.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "../value_of.h"

namespace draftscope::traces {
namespace {

class SampleWriter {
 public:
  SampleWriter(Writer& writer, const SampleOptions& options)
      : writer_(writer), options_(options), random_(options.seed) {}

  Sample write() {
    host_ = add_track("host", "decoding", 0, 0);
    stream_ = add_track("stream", "stream 7", host_, 1);
    counter_ = add_track("counter", "kv_cache_tokens", host_, 2);
    if (options_.operations) operations_ = add_track("operations", "operations", host_, 3);
    for (int i = 0; i < options_.runs; ++i) {
      Run run;
      run.strategy = i == 0 ? "vanilla" : "layerskip";
      run.specification = i == 0 ? "vanilla" : "layerskip:exit=" + std::to_string(i) + ",gamma=6";
      run.parameters = i == 0 ? "{}" : R"({"exit":)" + std::to_string(i) + R"(,"gamma":6})";
      run.is_baseline = i == 0;
      run.id = writer_.add(run);
      sample_.recording.runs.push_back(run);
    }
    // A writer may take several samples, and each names different tokens.
    const auto first = static_cast<std::int32_t>(5000 * (sample_.recording.runs.front().id.value() - 1));
    for (const std::int32_t token : {first, first + 7, first + 4095}) {
      sample_.token_texts.push_back({token, " to\"ken\n\xEF\xBF\xBD " + std::to_string(token)});
      writer_.add(sample_.token_texts.back());
    }
    for (int i = 0; i < options_.requests_per_run; ++i) add_prompt(i);
    // Runs are interleaved: every run decodes a prompt before the next prompt.
    for (const Prompt& prompt : sample_.recording.prompts)
      for (const Run& run : sample_.recording.runs) add_request(run, prompt);
    return std::move(sample_);
  }

 private:
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  bool chance() { return between(0, 1) == 1; }
  double share() { return std::uniform_real_distribution<double>(0.0, 1.0)(random_); }
  void pass(std::int64_t most = 1000) { now_ns_ += between(0, most); }

  StringId name(const std::string& text) {
    const StringId id = writer_.intern(text);
    if (static_cast<std::size_t>(id.value()) > sample_.strings.size()) sample_.strings.push_back(text);
    return id;
  }

  TrackId add_track(std::string kind, std::string track_name, TrackId parent_id, std::int32_t sort) {
    Track track{0, std::move(kind), std::move(track_name), parent_id, sort};
    track.id = writer_.add(track);
    sample_.recording.tracks.push_back(track);
    return track.id;
  }

  void add_prompt(int i) {
    static const std::vector<std::string> categories{"coding", "qa", "summarization"};
    Prompt prompt;
    prompt.question_id = 81 + i / 2;  // two turns per question
    prompt.turn = i % 2;
    prompt.category = categories[static_cast<std::size_t>(i / 2) % categories.size()];
    prompt.text = "Wie heißt \"das\",\nbitte? \xF0\x9F\x98\x80 \\ " + std::to_string(i);
    for (std::int64_t n = between(1, 20); n > 0; --n)
      prompt.tokens.push_back(static_cast<std::int32_t>(between(0, 127999)));
    prompt.id = writer_.add(prompt);
    sample_.recording.prompts.push_back(prompt);
  }

  LayerSetId add_layer_set(std::int32_t exit_layer) {
    LayerSet set;
    set.n_layers = 8;
    set.exit_layer = exit_layer;
    set.skipped.assign(2, 0);
    for (std::int32_t bit = 2 * exit_layer; bit < 16; ++bit)
      set.skipped[static_cast<std::size_t>(bit / 8)] |= static_cast<std::uint8_t>(1U << (bit % 8));
    set.origin = "fixed";
    set.id = writer_.add(set);
    if (static_cast<std::size_t>(set.id.value()) > sample_.recording.layer_sets.size())
      sample_.recording.layer_sets.push_back(set);
    return set.id;
  }

  /// A phase with layers and operations inside; returns how long it took.
  std::int64_t add_phase(Phase phase, RequestId request_id, RoundId round_id) {
    const std::int64_t start_ns = now_ns_;
    const std::size_t first = spans_.size();
    open_span(0, phase, 0, request_id, round_id, std::string(phase_name(phase)), -1);
    for (std::int32_t layer = 0; layer < between(0, 2); ++layer) {
      const std::size_t outer = spans_.size();
      open_span(spans_[first].id, phase, 1, request_id, round_id, "layer", layer);
      for (std::int64_t n = between(0, 2); n > 0; --n) {
        open_span(spans_[outer].id, phase, 2, request_id, round_id, n == 1 ? "attention" : "mlp \"skinny\"",
                  layer);
        pass(300);
        if (options_.kernels) add_kernel(spans_.back());
        spans_.back().end_ns = now_ns_;
      }
      pass();
      spans_[outer].end_ns = now_ns_;
      pass();
    }
    pass();
    spans_[first].end_ns = now_ns_;
    pass(100);
    return spans_[first].end_ns - start_ns;
  }

  void open_span(SpanId parent_id, Phase phase, std::uint8_t depth, RequestId request_id, RoundId round_id,
                 const std::string& text, std::int32_t layer) {
    Span span;
    span.id = writer_.next_span_id();
    span.parent_id = parent_id;
    span.track_id = host_;
    span.request_id = request_id;
    span.round_id = round_id;
    span.start_ns = now_ns_;
    span.name_id = name(text);
    span.layer = layer;
    span.depth = depth;
    span.phase = phase;
    spans_.push_back(span);
  }

  void add_kernel(const Span& launcher) {
    Kernel kernel;
    kernel.id = writer_.next_kernel_id();
    kernel.span_id = launcher.id;
    kernel.track_id = stream_;
    kernel.request_id = launcher.request_id;
    kernel.round_id = launcher.round_id;
    kernel.start_ns = std::max(device_ns_, now_ns_ + 5000);
    kernel.end_ns = device_ns_ = kernel.start_ns + between(0, 2000);
    kernel.short_name_id = name("skinny_product<8>");
    kernel.layer = launcher.layer;
    kernel.phase = launcher.phase;
    kernel.stream_id = 7;
    kernel.correlation_id = static_cast<std::uint32_t>(between(0, 0xFFFFFFFF));
    kernel.graph_node_id = ~std::uint64_t{0} - static_cast<std::uint64_t>(between(0, 9));
    kernel.grid_x = 132;
    kernel.grid_y = kernel.grid_z = kernel.block_y = kernel.block_z = 1;
    kernel.block_x = 128;
    kernel.registers_per_thread = 96;
    kernel.dynamic_shared_bytes = 65'536;
    kernels_.push_back(kernel);
    if (!options_.operations) return;
    kernel.id = writer_.next_kernel_id();
    kernel.track_id = operations_;
    kernel.short_name_id = name("qkv");
    kernel.stream_id = 0;
    kernel.correlation_id = 0;
    kernel.graph_node_id = 0;
    kernel.grid_y = kernel.grid_z = kernel.block_x = kernel.block_y = kernel.block_z = 0;
    kernel.registers_per_thread = kernel.dynamic_shared_bytes = 0;
    kernel.bytes = between(0, 1'000'000'000);
    kernel.first_end_ns = between(kernel.start_ns, kernel.end_ns);
    kernel.wait_ns = kernel.end_ns - kernel.first_end_ns;
    kernel.first_block = 3;
    kernel.last_block = 131;
    kernels_.push_back(kernel);
  }

  void flush() {
    writer_.add(std::span<const Span>(spans_));
    writer_.add(std::span<const Kernel>(kernels_));
    const std::vector<Counter> counters{{counter_, now_ns_, share() * 1000}};
    writer_.add(std::span<const Counter>(counters));
    sample_.spans.insert(sample_.spans.end(), spans_.begin(), spans_.end());
    sample_.kernels.insert(sample_.kernels.end(), kernels_.begin(), kernels_.end());
    sample_.counters.insert(sample_.counters.end(), counters.begin(), counters.end());
    spans_.clear();
    kernels_.clear();
  }

  void add_request(const Run& run, const Prompt& prompt) {
    Request request;
    request.id = writer_.next_request_id();
    request.run_id = run.id;
    request.prompt_id = prompt.id;
    request.start_ns = now_ns_;
    request.seed = ~std::uint64_t{0} - static_cast<std::uint64_t>(request.id.value());
    writer_.begin(request);
    add_phase(Phase::prefill, request.id, 0);
    request.first_token_ns = now_ns_;
    flush();
    if (!run.is_baseline) add_decision(request.id, 0);
    const auto rounds = static_cast<std::int32_t>(between(0, options_.max_rounds));
    for (std::int32_t index = 0; index < rounds; ++index) add_round(request, run, index);
    if (!run.is_baseline) add_decision(request.id, 0);
    pass();
    request.end_ns = now_ns_;
    request.stop = static_cast<RequestStop>(request.id.value() % 5);
    request.text = "out\tput \x01 \xC3\xA9 " + std::to_string(request.id.value());
    writer_.finish(request);
    if (run.is_baseline) add_shadow_tokens(request, prompt);
    sample_.recording.requests.push_back(request);
    now_ns_ += 10;
  }

  void add_round(Request& request, const Run& run, std::int32_t index) {
    Round round;
    round.id = writer_.next_round_id();
    round.request_id = request.id;
    round.index = index;
    round.start_ns = now_ns_;
    round.root_position = 100 + index;
    std::vector<DraftToken> tokens;
    round.control_ns = add_phase(Phase::control, request.id, round.id);
    if (!run.is_baseline) {
      // The decision belongs to the planning of a round that the file does not have yet.
      if (chance()) add_decision(request.id, round.id);
      round.exit_layer = static_cast<std::int32_t>(between(1, 7));
      round.layer_set_id = add_layer_set(round.exit_layer);
      round.planned = options_.max_drafted;
      round.drafted = static_cast<std::int32_t>(between(0, options_.max_drafted));
      round.accepted = static_cast<std::int32_t>(between(0, round.drafted));
      round.threshold = share();
      round.draft_stop = static_cast<DraftStop>(between(0, 4));
      // The accepted part is a chain; beyond it, half of the rounds have branches.
      const bool is_tree = chance();
      for (std::int32_t i = 0; i < round.drafted; ++i)
        tokens.push_back(
            {round.id, i,
             is_tree && i >= round.accepted ? static_cast<std::int32_t>(between(-1, i - 1)) : i - 1,
             static_cast<std::int32_t>(between(0, 127999)), share(), share(), i < round.accepted,
             i <= round.accepted});
      round.draft_ns = add_phase(Phase::draft, request.id, round.id);
    }
    round.tree_depth = tree_depth(tokens);
    round.verify_rows = round.drafted + 1;
    round.verify_ns = add_phase(Phase::verify, request.id, round.id);
    round.accept_ns = add_phase(Phase::accept, request.id, round.id);
    if (!run.is_baseline) round.optimise_ns = add_phase(Phase::optimise, request.id, round.id);
    round.bonus_token = static_cast<std::int32_t>(between(0, 127999));
    round.emitted = round.accepted + 1;
    for (std::int32_t i = 0; i < round.accepted; ++i)
      request.tokens.push_back(tokens[static_cast<std::size_t>(i)].token);
    request.tokens.push_back(round.bonus_token);
    round.end_ns = now_ns_;
    // Both orders occur: spans before their round, and after.
    const bool spans_first = chance();
    if (spans_first) flush();
    writer_.add(round, tokens);
    if (!spans_first) flush();
    if (!run.is_baseline && chance()) add_decision(request.id, round.id);
    sample_.recording.rounds.push_back(round);
    sample_.recording.draft_tokens.insert(sample_.recording.draft_tokens.end(), tokens.begin(), tokens.end());
  }

  void add_decision(RequestId request_id, RoundId round_id) {
    static const std::vector<std::string> kinds{"layer set", "exit", "speculation length", "threshold"};
    Decision decision;
    decision.request_id = request_id;
    decision.round_id = round_id;
    decision.kind_id = name(kinds[static_cast<std::size_t>(between(0, 3))]);
    decision.start_ns = now_ns_;
    if (chance()) pass();  // some decisions are not timed
    decision.end_ns = now_ns_;
    if (chance()) decision.score = share();
    decision.adopted = chance();
    decision.detail = fmt::format(R"({{"candidate":{},"before":"\"ä\""}})", between(1, 8));
    decision.id = writer_.add(decision);
    sample_.decisions.push_back(decision);
  }

  /// Adds shadow tokens of half of the layers, at all positions of the output and, after an end of the text,
  /// at that one's.
  void add_shadow_tokens(const Request& request, const Prompt& prompt) {
    std::vector<ShadowToken> rows;
    std::vector<std::int32_t> text = prompt.tokens;
    text.insert(text.end(), request.tokens.begin(), request.tokens.end());
    if (request.stop == RequestStop::eos) text.push_back(2);
    // Tokens come position by position, as they are computed, whereas the file stores them layer by layer.
    for (std::size_t position = prompt.tokens.size(); position < text.size(); ++position)
      for (std::int32_t layer = 2; layer <= 2 * sample_shadow_layers; layer += 2) {
        ShadowToken row;
        row.request_id = request.id;
        row.position = static_cast<std::int32_t>(position);
        row.layer = layer;
        row.true_rank = static_cast<std::int32_t>(between(-1, 8 - layer));
        row.token = row.true_rank == 0 ? text[position] : 128000 + layer;
        row.probability = static_cast<double>(between(0, 1'000'000)) / 1e6;
        row.margin = static_cast<double>(between(0, 30'000'000)) / 1e6;
        rows.push_back(row);
      }
    writer_.add(std::span<const ShadowToken>(rows));
    sample_.shadow_tokens.insert(sample_.shadow_tokens.end(), rows.begin(), rows.end());
  }

  Writer& writer_;
  SampleOptions options_;
  std::mt19937 random_;
  Sample sample_;
  std::vector<Span> spans_;
  std::vector<Kernel> kernels_;
  std::int64_t now_ns_ = 1'234'567'890'123'456;
  std::int64_t device_ns_ = 0;
  TrackId host_, stream_, operations_, counter_;
};

}  // namespace

Sample write_sample(Writer& writer, const SampleOptions& options) {
  return SampleWriter(writer, options).write();
}

Sample make_sample_file(const std::filesystem::path& path, const SampleOptions& options) {
  const Meta meta{{"tool_version", "0.1.0"}, {"model", "demo"}, {"clock_start_monotonic_ns", "1"}};
  const auto writer = value_of(Writer::create(path, meta));
  Sample sample = write_sample(*writer, options);
  if (auto closed = writer->close(); !closed) throw std::runtime_error(closed.error().message);
  return sample;
}

std::vector<std::string> names_in(const TestFolder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

void copy_with_log(const std::filesystem::path& from, const std::filesystem::path& to) {
  for (const char* const suffix : {"", "-wal"})
    std::filesystem::copy_file(from.string() + suffix, to.string() + suffix);
}

std::filesystem::path parent_in_memory() {
  const char* const memory = "/dev/shm";
  return ::access(memory, W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("can't read " + path.string());
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

void write_file(const std::filesystem::path& path, const std::string& content) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
}

void expect_sound(Reader& reader) {
  for (const Violation& violation : value_of(reader.validate()))
    ADD_FAILURE() << violation.table << " row " << violation.row << ": " << violation.rule;
}

namespace {
int collect(void* rows, int columns, char** values, char** /*names*/) {
  std::vector<std::string> row;
  for (int i = 0; i < columns; ++i) row.emplace_back(values[i] == nullptr ? "NULL" : values[i]);
  static_cast<std::vector<std::vector<std::string>>*>(rows)->push_back(std::move(row));
  return 0;
}

std::vector<std::vector<std::string>> run_sql(const std::filesystem::path& path, const std::string& sql,
                                              int flags) {
  sqlite3* database = nullptr;
  std::vector<std::vector<std::string>> rows;
  char* message = nullptr;
  sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
  const int code = sqlite3_exec(database, sql.c_str(), collect, &rows, &message);
  const std::string words = message == nullptr ? "" : message;
  sqlite3_free(message);
  sqlite3_close(database);
  if (code != SQLITE_OK) throw std::runtime_error(words + " in: " + sql);
  return rows;
}
}  // namespace

void change(const std::filesystem::path& path, const std::string& sql) {
  run_sql(path, sql, SQLITE_OPEN_READWRITE);
}

std::vector<std::vector<std::string>> query(const std::filesystem::path& path, const std::string& sql) {
  return run_sql(path, sql, SQLITE_OPEN_READONLY);
}

}  // namespace draftscope::traces
