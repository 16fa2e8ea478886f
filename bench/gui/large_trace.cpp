// SPDX-License-Identifier: GPL-3.0-or-later
#include "large_trace.h"

#include <draftscope/traces/writer.h>

#include <random>
#include <string>
#include <thread>

namespace draftscope::bench {

namespace {

using traces::Phase;

constexpr std::int32_t word = 2;
constexpr std::int32_t paragraph = 3;
constexpr const char* word_text = " word";
constexpr const char* paragraph_text = "\n";
constexpr std::size_t tokens_per_paragraph = 60;

class Generator {
 public:
  Generator(traces::Writer& writer, const LargeTrace& size) : writer_(writer), size_(size) {
    track_id_ = writer_.add(traces::Track{.kind = "host", .name = "decoding thread"});
    for (const char* name : {"draft", "verify", "accept", "layer"}) name_ids_.push_back(writer_.intern(name));
    mask_kind_ = writer_.intern("layer set");
  }

  void write() {
    add_runs_and_prompts();
    std::size_t turn = 0;
    for (std::int64_t done = 0; done < size_.rounds; done += size_.rounds_per_request, ++turn) {
      const std::size_t run = turn % runs_.size();
      const std::size_t text = turn / runs_.size();
      add_request(runs_[run], prompts_[text % prompts_.size()],
                  static_cast<std::int32_t>(text / prompts_.size()),
                  std::min<std::int64_t>(size_.rounds_per_request, size_.rounds - done));
      // The writer drops spans rather than wait, so the generator must wait.
      while (writer_.counts().written_rows + 400'000 < produced_) std::this_thread::yield();
    }
  }

 private:
  struct RunOfKind {
    traces::RunId id;
    bool is_vanilla = false;
  };

  void add_runs_and_prompts() {
    writer_.add(traces::TokenText{word, word_text});
    writer_.add(traces::TokenText{paragraph, paragraph_text});
    for (std::int32_t i = 0; i < size_.runs; ++i) {
      const bool is_vanilla = size_.runs > 1 && i == 0;
      const std::string specification =
          is_vanilla ? "vanilla" : "layerskip:exit=" + std::to_string(i + 1) + ",gamma=3";
      const traces::Run run{.strategy = is_vanilla ? "vanilla" : "layerskip",
                            .specification = specification,
                            .parameters = "{}",
                            .is_baseline = is_vanilla};
      runs_.push_back({writer_.add(run), is_vanilla});
    }
    for (std::int32_t i = 0; i < size_.prompts; ++i)
      prompts_.push_back(writer_.add(traces::Prompt{.question_id = 1 + i,
                                                    .category = i % 2 == 0 ? "synthetic" : "made up",
                                                    .text = "synthetic " + std::to_string(i),
                                                    .tokens = {1}}));
  }

  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

  traces::LayerSetId layer_set() {
    traces::LayerSet set{.n_layers = size_.layers,
                         .exit_layer = size_.layers,
                         .skipped = std::vector<std::uint8_t>(static_cast<std::size_t>(size_.layers) / 4),
                         .origin = "synthetic"};
    for (std::uint8_t& byte : set.skipped) byte = static_cast<std::uint8_t>(random_() & random_());
    return writer_.add(set);
  }

  /// Decides on another mask, with the last round as the stated reason.
  traces::LayerSetId decide(traces::RequestId request_id, traces::RoundId after) {
    const double matchness = static_cast<double>(between(500, 1000)) / 1000.0;
    writer_.add(traces::Decision{.request_id = request_id,
                                 .round_id = after,
                                 .kind_id = mask_kind_,
                                 .start_ns = now_,
                                 .end_ns = now_ + 200,
                                 .score = matchness,
                                 .adopted = true,
                                 .detail = R"({"candidate":{"matchness":)" + std::to_string(matchness) +
                                           R"(,"origin":"random"},"best_before":0.5})"});
    now_ += 200;
    ++produced_;
    return layer_set();
  }

  void add_request(const RunOfKind& run, traces::PromptId prompt_id, std::int32_t repeat,
                   std::int64_t rounds) {
    traces::Request request{
        .id = writer_.next_request_id(), .run_id = run.id, .prompt_id = prompt_id, .repeat = repeat};
    request.start_ns = now_;
    writer_.begin(request);
    now_ += 1'000'000;
    request.first_token_ns = now_;
    request.tokens.push_back(1);
    traces::LayerSetId set_id = run.is_vanilla ? traces::LayerSetId{} : layer_set();
    traces::RoundId last;
    for (std::int64_t i = 0; i < rounds; ++i) {
      if (!run.is_vanilla && i > 0 && i % size_.rounds_per_mask == 0) set_id = decide(request.id, last);
      last = add_round(request, static_cast<std::int32_t>(i), set_id, run.is_vanilla);
    }
    request.end_ns = now_;
    request.stop = traces::RequestStop::length;
    for (const std::int32_t token : request.tokens)
      request.text += token == word ? word_text : token == paragraph ? paragraph_text : "";
    writer_.finish(request);
    now_ += between(10'000, 2'000'000);
    produced_ += 2;
  }

  traces::RoundId add_round(traces::Request& request, std::int32_t index, traces::LayerSetId set_id,
                            bool is_vanilla) {
    const auto drafted = is_vanilla ? 0 : static_cast<std::int32_t>(between(1, 4));
    const auto accepted = static_cast<std::int32_t>(between(0, drafted));
    traces::Round round{.id = writer_.next_round_id(),
                        .request_id = request.id,
                        .index = index,
                        .start_ns = now_,
                        .root_position = 1 + static_cast<std::int32_t>(request.tokens.size()) - 1,
                        .layer_set_id = set_id,
                        .exit_layer = is_vanilla ? 0 : size_.layers,
                        .planned = is_vanilla ? 0 : 4,
                        .drafted = drafted,
                        .tree_depth = drafted,
                        .accepted = accepted,
                        .emitted = accepted + 1,
                        .verify_rows = drafted + 1,
                        .bonus_token = word,
                        .draft_stop = is_vanilla ? traces::DraftStop::no_draft : traces::DraftStop::length,
                        .threshold = is_vanilla ? -1.0 : 0.4};
    std::vector<traces::DraftToken> tokens;
    tokens.reserve(static_cast<std::size_t>(drafted));
    for (std::int32_t i = 0; i < drafted; ++i)
      tokens.push_back({.index = i,
                        .parent = i - 1,
                        .token = word,
                        .confidence = static_cast<double>(between(0, 1000)) / 1000.0,
                        .probability = 1.0,
                        .accepted = i < accepted,
                        .tested = i <= accepted});
    spans_.clear();
    if (!is_vanilla)
      round.draft_ns = add_phase(request.id, round.id, Phase::draft, 0, between(100'000, 300'000), 2);
    round.verify_ns =
        add_phase(request.id, round.id, Phase::verify, 1, between(200'000, 400'000), spans_per_round() - 5);
    round.accept_ns = add_phase(request.id, round.id, Phase::accept, 2, between(1'000, 5'000), 0);
    now_ += between(500, 3'000);
    round.end_ns = now_;
    for (std::int32_t i = 0; i < round.emitted; ++i)
      request.tokens.push_back(request.tokens.size() % tokens_per_paragraph == 0 ? paragraph : word);
    writer_.add(round, tokens);
    writer_.add(std::span<const traces::Span>(spans_));
    produced_ += 1 + drafted + static_cast<std::int64_t>(spans_.size());
    return round.id;
  }

  [[nodiscard]] std::int64_t spans_per_round() const { return size_.spans / size_.rounds; }

  std::int64_t add_phase(traces::RequestId request_id, traces::RoundId round_id, Phase phase,
                         std::size_t name, std::int64_t duration, std::int64_t layers) {
    const traces::SpanId id = writer_.next_span_id();
    spans_.push_back({.id = id,
                      .track_id = track_id_,
                      .request_id = request_id,
                      .round_id = round_id,
                      .start_ns = now_,
                      .end_ns = now_ + duration,
                      .name_id = name_ids_[name],
                      .phase = phase});
    for (std::int64_t layer = 0; layer < layers; ++layer)
      spans_.push_back({.id = writer_.next_span_id(),
                        .parent_id = id,
                        .track_id = track_id_,
                        .request_id = request_id,
                        .round_id = round_id,
                        .start_ns = now_ + duration * layer / layers,
                        .end_ns = now_ + duration * (layer + 1) / layers - 10,
                        .name_id = name_ids_[3],
                        .layer = static_cast<std::int32_t>(layer),
                        .depth = 1,
                        .phase = phase});
    now_ += duration;
    return duration;
  }

  traces::Writer& writer_;
  LargeTrace size_;
  std::mt19937_64 random_{1};
  std::vector<traces::Span> spans_;
  std::vector<traces::StringId> name_ids_;
  traces::TrackId track_id_;
  traces::StringId mask_kind_;
  std::vector<RunOfKind> runs_;
  std::vector<traces::PromptId> prompts_;
  std::int64_t now_ = 1'000'000'000;
  std::int64_t produced_ = 0;
};

}  // namespace

Result<void> write_large_trace(const std::filesystem::path& path, const LargeTrace& size) {
  DRAFTSCOPE_TRY_ASSIGN(
      const auto writer,
      traces::Writer::create(path, {{"model", "synthetic"}, {"synthetic", "1"}}, {.overwrite = true}));
  Generator(*writer, size).write();
  return writer->close();
}

}  // namespace draftscope::bench
