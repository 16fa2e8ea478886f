// SPDX-License-Identifier: GPL-3.0-or-later
// Records a small model on a device and checks that the recording adds up (device_conservation.h).
// Usage: recorded_on_gpu program|plain. Exits with 77, and a line, if there is no device or no CUPTI.

#include <draftscope/base/clock.h>
#include <draftscope/engine/cuda_backend.h>
#include <draftscope/engine/decode.h>
#include <draftscope/engine/strategy.h>
#include <draftscope/profiler/device_trace.h>
#include <draftscope/profiler/span_recorder.h>
#include <draftscope/traces/writer.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "device_conservation.h"
#include "start.h"
#include "temporary_folder.h"

namespace draftscope {
namespace {

constexpr const char* strategies[] = {"vanilla", "layerskip:exit=2,gamma=4"};

/// Wide enough for a round to take some hundred microseconds.
speculation::ModelShape recorded_shape() {
  speculation::ModelShape shape;
  shape.name = "recorded";
  shape.architecture = "LlamaForCausalLM";
  shape.n_layers = 8;
  shape.n_heads = 16;
  shape.n_kv_heads = 4;
  shape.head_dim = 64;
  shape.d_model = 1024;
  shape.d_ff = 2816;
  shape.vocab = 8192;
  shape.max_positions = 512;
  return shape;
}

/// Writes rounds to the file as they arrive.
class Recorded final : public engine::DecodeListener {
 public:
  Recorded(traces::Writer& writer, traces::RequestId request_id) : writer_(writer), request_id_(request_id) {}
  traces::RoundId next_round_id() override { return writer_.next_round_id(); }
  void on_round(const engine::RoundReport& report) override {
    traces::Round round = report.round;
    round.request_id = request_id_;
    if (report.layer_set.n_layers > 0) round.layer_set_id = writer_.add(report.layer_set);
    writer_.add(round, report.draft_tokens);
  }

 private:
  traces::Writer& writer_;
  traces::RequestId request_id_;
};

class RecordedModel {
 public:
  explicit RecordedModel(engine::DecodingPasses passes) : passes_(passes) {}

  Result<void> open() {
    DRAFTSCOPE_TRY_ASSIGN(trace_, profiler::start_device_trace(profiler::DeviceTraceMode::launches));
    DRAFTSCOPE_TRY_ASSIGN(
        const engine::Checkpoint checkpoint,
        engine::make_synthetic(recorded_shape(), 0.8, 1, engine::SyntheticMatrices::by_backend));
    DRAFTSCOPE_TRY_ASSIGN(
        backend_, engine::make_cuda_backend(checkpoint, {.device_trace = trace_.get(), .passes = passes_}));
    return {};
  }

  Result<void> record(const std::filesystem::path& file) {
    DRAFTSCOPE_TRY(decode_unrecorded());  // This loads the kernels.
    DRAFTSCOPE_TRY_ASSIGN(const auto writer, traces::Writer::create(file, {}));
    trace_->record_into(*writer);
    profiler::SpanRecorder spans(profiler::Level::phases, writer.get());
    spans.attach(trace_.get());
    backend_->set_recorder(&spans);
    const traces::PromptId prompt_id = writer->add(traces::Prompt{});
    for (const char* specification : strategies) {
      DRAFTSCOPE_TRY_ASSIGN(const auto strategy, engine::make_strategy(specification, backend_->shape()));
      traces::Request row;
      row.run_id = writer->add(traces::Run{.strategy = strategy.name,
                                           .specification = strategy.specification,
                                           .parameters = strategy.parameters,
                                           .is_baseline = strategy.is_vanilla});
      row.prompt_id = prompt_id;
      row.id = writer->next_request_id();
      row.start_ns = now_ns();
      writer->begin(row);
      spans.set_request(row.id);
      Recorded recorded(*writer, row.id);
      engine::SeededChooser chooser(1, 1);
      DRAFTSCOPE_TRY_ASSIGN(
          engine::DecodeResult decoded,
          engine::decode(*backend_, *strategy.strategy, request(), chooser, recorded, &spans));
      spans.flush();
      spans.set_request(0);
      row.start_ns = decoded.start_ns;
      row.first_token_ns = decoded.first_token_ns;
      row.end_ns = decoded.end_ns;
      row.stop = decoded.stop;
      row.tokens = std::move(decoded.tokens);
      writer->finish(row);
      trace_->flush();
    }
    trace_->stop();
    backend_->set_recorder(nullptr);
    return writer->close();
  }

 private:
  [[nodiscard]] engine::DecodeRequest request() const { return {.prompt = prompt_, .max_new_tokens = 60}; }

  Result<void> decode_unrecorded() {
    for (const char* specification : strategies) {
      DRAFTSCOPE_TRY_ASSIGN(const auto strategy, engine::make_strategy(specification, backend_->shape()));
      engine::SeededChooser chooser(1, 1);
      engine::DecodeListener unheard;
      DRAFTSCOPE_TRY(engine::decode(*backend_, *strategy.strategy, request(), chooser, unheard));
    }
    return {};
  }

  engine::DecodingPasses passes_;
  std::unique_ptr<profiler::DeviceTrace> trace_;  // Declared before the backend, which gets a pointer to it.
  std::unique_ptr<engine::Backend> backend_;
  std::vector<std::int32_t> prompt_ = std::vector<std::int32_t>(40, 7);
};

int failed(const Error& error) {
  std::printf("recorded_on_gpu: %s\n", error.message.c_str());
  return EXIT_FAILURE;
}

int run(engine::DecodingPasses passes) {
  RecordedModel model(passes);
  if (const auto opened = model.open(); !opened) {
    const test::FailedStart end = test::failed_start(
        test::device_is_missing() || test::cupti_is_missing(opened.error()), opened.error());
    std::puts(end.line.c_str());
    return end.status;
  }
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder / "recorded.dstrace";
  const auto recorded = model.record(file);
  const auto checked = recorded ? profiler::device_conservation(file) : tl::unexpected(recorded.error());
  if (!checked) return failed(checked.error());
  std::printf(
      "%lld rounds, %lld activities: %.1f %% busy, %.1f %% gaps, %.1f %% host; worst round off by %.3f %%\n",
      static_cast<long long>(checked->rounds), static_cast<long long>(checked->activities),
      100.0 * static_cast<double>(checked->busy_ns) / static_cast<double>(checked->wall_ns),
      100.0 * static_cast<double>(checked->gap_ns) / static_cast<double>(checked->wall_ns),
      100.0 * static_cast<double>(checked->host_ns) / static_cast<double>(checked->wall_ns),
      100.0 * checked->worst_share);
  for (const std::string& line : checked->broken) std::printf("broken: %s\n", line.c_str());
  return checked->broken.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace draftscope

int main(int argc, char** argv) {
  const std::string name = argc == 2 ? argv[1] : "";
  if (name != "program" && name != "plain") {
    std::fprintf(stderr, "usage: recorded_on_gpu program|plain\n");
    return EXIT_FAILURE;
  }
  using enum draftscope::engine::DecodingPasses;
  return draftscope::run(name == "plain" ? plain : programs);
}
