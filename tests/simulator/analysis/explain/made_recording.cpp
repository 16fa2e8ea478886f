// SPDX-License-Identifier: GPL-3.0-or-later
#include "made_recording.h"

#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/traces/writer.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "../../../temporary_folder.h"

namespace draftscope::simulator {

namespace {

constexpr std::int64_t microsecond = 1000;
constexpr int layers = 12;

class Maker {
 public:
  Maker(const MadeRecording& made, traces::Writer& writer) : made_(made), writer_(writer) {
    traces::LayerSet set{.n_layers = layers, .exit_layer = 4, .origin = "fixed"};
    set.skipped = {0, 0xFF, 0xFF};
    layer_set_ = writer.add(set);
    for (int i = 0; i < made.prompts; ++i)
      prompts_.push_back(writer.add(traces::Prompt{
          .question_id = i, .category = "made", .text = fmt::format("prompt {}", i), .tokens = {1, 2, 3}}));
  }

  void run(const std::string& specification, bool is_baseline, bool is_other = false) {
    is_other_ = is_other;
    const traces::RunId run_id =
        writer_.add(traces::Run{.strategy = std::string(speculation::strategy_name(specification)),
                                .specification = specification,
                                .parameters = is_baseline || is_other ? "{}" : made_.parameters,
                                .is_baseline = is_baseline});
    int beside = 0;
    std::int64_t latest_ns = now_;
    for (int repeat = 0; repeat < made_.repeats; ++repeat)
      for (const traces::PromptId prompt_id : prompts_) {
        const std::int64_t start_ns = now_;
        slower_ = is_baseline || repeat == 0 ? 1.0 : 1.0 + made_.slower_repeats;
        request(run_id, prompt_id, repeat, is_baseline);
        latest_ns = std::max(latest_ns, now_);
        now_ = ++beside % made_.at_a_time == 0 ? latest_ns : start_ns;
      }
    now_ = latest_ns;
  }

 private:
  void request(traces::RunId run_id, traces::PromptId prompt_id, int repeat, bool is_baseline) {
    traces::Request row{.id = writer_.next_request_id(),
                        .run_id = run_id,
                        .prompt_id = prompt_id,
                        .repeat = repeat,
                        .start_ns = now_};
    now_ += 2000 * microsecond;
    if (made_.with_first_tokens) row.first_token_ns = now_;
    writer_.begin(row);
    int emitted = 1;
    for (int index = 0; emitted < made_.tokens; ++index) {
      const bool is_interrupted =
          made_.interrupted_vanilla > 0 && index % made_.interrupted_vanilla == made_.interrupted_vanilla - 1;
      const MadeRound step{.drafted = 0,
                           .accepted = 0,
                           .draft_us = 0,
                           .verify_us = is_interrupted ? made_.interrupted_us : made_.vanilla_us,
                           .outside_us = made_.outside_vanilla_us};
      const MadeRound made = is_baseline ? step
                             : is_other_ ? made_.round_of_other(index)
                                         : made_.round(index);
      emitted += round(row.id, index, made, made_.tokens - emitted);
    }
    for (int i = 0; i < made_.tokens; ++i) row.tokens.push_back(i);
    row.end_ns = now_;
    writer_.finish(row);
  }

  std::int64_t spend(int microseconds) {
    const auto ns = static_cast<std::int64_t>(slower_ * microseconds * microsecond);
    now_ += ns;
    return ns;
  }

  int round(traces::RequestId request_id, int index, const MadeRound& made, int left) {
    traces::Round row{
        .id = writer_.next_round_id(), .request_id = request_id, .index = index, .start_ns = now_};
    row.root_position = 3 + index;
    row.planned = row.drafted = made.drafted;
    row.tree_depth = made.steps > 0 ? made.steps : made.drafted;
    row.threshold = made.threshold;
    row.accepted = made.accepted;
    row.emitted = std::min(made.accepted + 1, left);
    row.verify_rows = made.drafted + 1;
    row.bonus_token = 7;
    row.draft_stop = made.drafted > 0 ? traces::DraftStop::length : traces::DraftStop::no_draft;
    if (made.drafted > 0 && made_.drafts_by_layers) {
      row.layer_set_id = layer_set_;
      row.exit_layer = 4;
    }
    row.draft_ns = spend(made.draft_us);
    row.verify_ns = spend(made.verify_us);
    row.optimise_ns = spend(made.decide_us);
    row.control_ns = spend(made.control_us);
    spend(made.uncovered_us);
    row.end_ns = now_;
    spend(made.outside_us);
    std::vector<traces::DraftToken> tokens;
    for (int k = 0; k < made.drafted; ++k)
      tokens.push_back({.round_id = row.id,
                        .index = k,
                        .parent = k < row.tree_depth ? k - 1 : -1,
                        .token = 9,
                        .confidence = 0.5,
                        .probability = 1.0,
                        .accepted = k < made.accepted,
                        .tested = k <= made.accepted});
    writer_.add(row, tokens);
    return row.emitted;
  }

  const MadeRecording& made_;
  traces::Writer& writer_;
  traces::LayerSetId layer_set_;
  std::vector<traces::PromptId> prompts_;
  std::int64_t now_ = 1'000'000'000;
  double slower_ = 1.0;
  bool is_other_ = false;
};

}  // namespace

MeasuredRecording made_recording(const MadeRecording& made) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "trace.dstrace";
  traces::Meta meta{{"model_shape", R"({"n_layers":12})"}, {"temperature", "0"}};
  for (const auto& [key, value] : made.meta) meta[key] = value;
  auto writer = traces::Writer::create(path, meta).value();
  {
    Maker maker(made, *writer);
    if (made.with_vanilla) maker.run("vanilla", true);
    maker.run(made.specification, false);
    if (!made.other.empty()) maker.run(made.other, false, true);
  }
  EXPECT_TRUE(writer->close());
  auto reader = traces::Reader::open(path).value();
  EXPECT_TRUE(reader.validate().value().empty());
  return measure_recording(path).value();
}

MadeRecording alike(const MadeRound& round, MadeRecording made) {
  made.round = [round](int) { return round; };
  return made;
}

MadeRecording scattered_widths(int verify_us) {
  return {.round =
              [=](int index) {
                return MadeRound{.drafted = 1 + index % 12, .accepted = 0, .verify_us = verify_us};
              },
          .prompts = 1};
}

Diagnosis only_diagnosis(const MeasuredRecording& measured, const ExplainOptions& options) {
  std::vector<Diagnosis> found = explain(measured, options);
  EXPECT_EQ(found.size(), 1U);
  return found.empty() ? Diagnosis{} : found.front();
}

const Finding* find(const Diagnosis& diagnosis, std::string_view key) {
  for (const Finding& finding : diagnosis.findings)
    if (finding.row->key == key) return &finding;
  return nullptr;
}

std::string keys_of(const Diagnosis& diagnosis) {
  std::string keys;
  for (const Finding& finding : diagnosis.findings) keys += std::string(finding.row->key) + " ";
  return keys;
}

}  // namespace draftscope::simulator
