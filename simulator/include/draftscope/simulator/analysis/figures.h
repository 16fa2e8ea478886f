// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Measured figures of a recording, per run. All of them can be recomputed from the rows of the file, and
// tests do so. Speedups are against vanilla decoding by the same engine in the same recording, or absent.

#include <draftscope/simulator/analysis/attribution.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/analysis/speedup.h>
#include <draftscope/traces/reader.h>
#include <draftscope/traces/records.h>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

// Tokens, time, and tokens per second.

/// Summary of a set of measured times, in nanoseconds. The median of an even count is the mean of the middle
/// two.
struct TimeSummary {
  double mean_ns = 0.0;
  double median_ns = 0.0;
  double minimum_ns = 0.0;
  double maximum_ns = 0.0;
};

struct Throughput {
  std::int64_t requests = 0;
  std::int64_t unfinished_requests = 0;  ///< Unfinished requests are left out of every figure.
  std::int64_t output_tokens = 0;
  std::int64_t wall_ns = 0;    ///< Σ (end − start), prefill included
  std::int64_t decode_ns = 0;  ///< Σ (end − first token)

  /// Σ output tokens / Σ wall time, prefill included: total over total, not a mean of rates.
  std::optional<double> tokens_per_second;
  /// Σ (output tokens − 1) / Σ (end − first token), since the first token belongs to the prefill. Absent if
  /// no request gave more tokens.
  std::optional<double> decode_tokens_per_second;
  /// Time from start to first token, over the requests that gave a token.
  std::optional<TimeSummary> time_to_first_token;
};

[[nodiscard]] Throughput throughput(const RunRows& run);

// Acceptance of draft tokens. Sums are over all rounds, so every figure is weighted by rounds or by draft
// tokens, never by prompts. Tokens after the text's end count nowhere as accepted or tested
// (traces/text_share.h); as drafted they count.

inline constexpr int draft_stop_count = 5;

/// Counts of rounds for draft position k, where 0 extends the root. Verification reached a position if all
/// earlier positions were accepted.
struct PositionAcceptance {
  std::int64_t drafted = 0;
  std::int64_t reached = 0;
  std::int64_t accepted = 0;

  [[nodiscard]] double of_drafted() const;  ///< accepted / drafted; 0 if nothing was drafted
  [[nodiscard]] double of_reached() const;  ///< accepted / reached; 0 if nothing was reached
};

struct Acceptance {
  std::int64_t rounds = 0;  ///< Target forwards after the prefill.
  std::int64_t drafted_tokens = 0;
  std::int64_t accepted_tokens = 0;
  std::int64_t draft_steps = 0;  ///< Forwards of the draft; fewer than draft tokens where drafts branch.

  /// α = Σ accepted / Σ drafted (Draft & Verify's "acceptance rate", LayerSkip's matches / drafted). All
  /// nodes of a token tree count, so wide trees have a low α.
  std::optional<double> acceptance_rate;
  /// Σ accepted / Σ draft steps: acceptance along the path, as SWIFT counts it (App. B.3). For a chain it
  /// equals α.
  std::optional<double> step_acceptance;
  /// Σ accepted / Σ tested. Draft tokens after a rejected one, which the verifier never reached, do not
  /// count.
  std::optional<double> tested_rate;
  /// M: tokens of the text per target forward, bonus and end-of-sequence tokens included (SWIFT's M). Vanilla
  /// decoding has 1. CLaSp's τ is M − 1.
  std::optional<double> mean_accepted_length;
  /// Σ emitted / rounds: M without the end-of-sequence token (Spec-Bench's accept_lengths).
  std::optional<double> emitted_per_round;
  /// γ̄ = draft steps / rounds.
  std::optional<double> steps_per_round;

  std::vector<PositionAcceptance> by_position;
  std::vector<std::int64_t> draft_lengths;                   ///< Number of rounds by draft steps, from 0.
  std::array<std::int64_t, draft_stop_count> draft_stops{};  ///< Number of rounds by traces::DraftStop.
};

[[nodiscard]] Acceptance acceptance(const RunRows& run);

// Tokens per loaded layer as observed (eTPL; DEL, "Evaluation metrics" and Appendix B). A draft step loads
// the layers that its mask keeps: E for an early exit, half a layer per kept sublayer otherwise. Weights of
// fewer bits count proportionally less. A verification loads all L:
//     eTPL of a request = tokens of M / Σ (draft steps · E + L)
// DEL's code also counts tokens after the text's end. Vanilla decoding has eTPL = 1 / L.

struct LoadedLayers {
  std::int32_t n_layers = 0;   ///< L
  double loaded_layers = 0.0;  ///< Layers loaded over all rounds.

  std::optional<double> etpl;         ///< Mean of the requests' eTPL, as DEL reports it.
  std::optional<double> etpl_pooled;  ///< All tokens / all loaded layers.
  /// L · pooled eTPL: the speedup over vanilla decoding if time consisted of loaded layers only.
  std::optional<double> layer_count_speedup;
};

/// Number of layers L of the recording's model: from its layer sets, else from meta; 0 if the file does not
/// say.
[[nodiscard]] std::int32_t model_layers(const traces::Recording& recording);

[[nodiscard]] LoadedLayers loaded_layers(const RunRows& run, const traces::Recording& recording);

// Cost of drafting and verifying, in units of one target step, and the closed form that follows:
//     S = M / (γ̄·c + v + o)
// (methods: the common cost model; Leviathan et al. with measured v and o). It predicts the speedup of
// decoding without prefill. A step and a round take their part of the time from the first token to the end,
// so that S differs from the measured speedup by the weights of the prompts alone.

/// Source of the time of one target step.
enum class TargetStep : std::uint8_t {
  unknown,          ///< The run has no rounds.
  baseline_rounds,  ///< baseline_step_ns() of the vanilla run of this recording.
  verification,     ///< Without a baseline: mean time of this run's own verifications, so that v is 1 by
                    ///< definition.
};

struct DraftCost {
  std::int64_t rounds = 0;
  std::int64_t draft_ns = 0;
  std::int64_t verify_ns = 0;
  std::int64_t other_ns = 0;    ///< The rounds without draft and verification, by any phase or by none.
  std::int64_t between_ns = 0;  ///< Time from the first token to the end outside of rounds, such as searches
                                ///< before the first round.

  std::optional<double> draft_ns_per_round;
  std::optional<double> verify_ns_per_round;
  std::optional<double> draft_ns_per_step;

  TargetStep target_step = TargetStep::unknown;
  double target_step_ns = 0.0;
  std::optional<double> c;  ///< Draft step / target step; absent if nothing was drafted.
  std::optional<double> v;  ///< Verification / target step.
  /// The rest of a round, time between rounds and drafts without a step included, / target step.
  std::optional<double> o;
  std::optional<double> closed_form_speedup;  ///< Closed-form speedup S; only with a baseline.
};

/// Mean time of a step of vanilla decoding on the prompts that `run` decoded too: from the first token to the
/// end, per round. Absent without such a round. Where the first token's time is missing, the rounds' alone.
[[nodiscard]] std::optional<double> baseline_step_ns(const RunRows& run, const RunRows& baseline);

/// `baseline` is the vanilla run of the same recording, or null.
[[nodiscard]] DraftCost draft_cost(const RunRows& run, const RunRows* baseline, const Acceptance& measured);

/// TPT = M / (γ̄·c + v + o): observed tokens per target-step time, with or without a baseline. Absent if
/// nothing was drafted.
[[nodiscard]] std::optional<double> observed_tpt(const DraftCost& cost, const Acceptance& measured);

// Breakdown of the wall time of an interval: the union of intervals with a fixed priority (the order of
// traces::Phase), never a sum of durations. It is exact in integers: the entries add up to the interval.

/// Nanoseconds by phase; [Phase::idle] is the time without any phase.
using Breakdown = std::array<std::int64_t, traces::phase_count>;

/// Phase spans (depth 0) clipped to [start_ns, end_ns). Other depths are ignored. O(n log n) in the spans.
[[nodiscard]] Breakdown phase_breakdown(std::span<const traces::Span> spans, std::int64_t start_ns,
                                        std::int64_t end_ns);

// Breakdown of the wall time of rounds from the device's view. A round that launched work on the device is
// divided into
//   busy   some kernel, copy, memory set or graph of the round ran
//   gap    none ran, between the round's first and its last; by GapKind (attribution.h)
//   host   before the first and after the last, when only the host worked
// so that busy + gap + host = wall time, exactly, in integers. Contradictions are reported separately:
// `outside` is device time of the round's work beyond the round's own times. It is 0 where the clocks agree
// and every round waits for its work.

/// One activity of the device.
struct DeviceInterval {
  traces::RoundId round_id;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  traces::Phase phase = traces::Phase::control;
  std::uint32_t launch = 0;  ///< As launch_number().
};

struct DeviceTime {
  std::int64_t rounds = 0;      ///< Rounds that launched recorded work; other rounds do not count here.
  std::int64_t activities = 0;  ///< Activities of these rounds.
  std::int64_t wall_ns = 0;
  std::int64_t busy_ns = 0;
  std::int64_t gap_ns = 0;
  std::int64_t host_ns = 0;
  std::int64_t outside_ns = 0;
  /// busy_ns by phase; where activities of two phases overlap, the one that began first counts.
  std::array<std::int64_t, traces::phase_count> busy_by_phase{};
  std::int64_t gap_launch_ns = 0;  ///< Part of gap_ns whose GapKind is launch; the rest is between kernels.
};

/// Activities on tracks of kind "stream" that belong to a round, ordered by round and start.
[[nodiscard]] Result<std::vector<DeviceInterval>> read_device_intervals(traces::Reader& reader,
                                                                        const traces::Recording& recording);

/// `intervals` must come from read_device_intervals(). O(rounds · log intervals + intervals).
[[nodiscard]] DeviceTime device_time(const RunRows& run, std::span<const DeviceInterval> intervals);

/// Source of the breakdown.
enum class BreakdownSource : std::uint8_t {
  none,    ///< There are neither spans nor consistent round times.
  spans,   ///< Phase spans (simulator/analysis/figures/phase_breakdown.cpp).
  rounds,  ///< Times in the round rows; prefill is everything before the first token.
};

struct RunBreakdown {
  BreakdownSource source = BreakdownSource::none;
  Breakdown by_phase{};  ///< Nanoseconds that add up exactly to the wall time of the run's requests.
};

/// Memory of a run in bytes, as recorded (traces/SCHEMA.md, `run_memory`). Mapped weights and the cache count
/// in full, although their pages become resident only when touched.
struct RunMemory {
  std::optional<std::int64_t> peak_bytes;
  std::int64_t weight_bytes = 0;
  std::int64_t draft_weight_bytes = 0;
  std::int64_t kv_bytes = 0;
  std::int64_t workspace_bytes = 0;

  /// The peak minus all parts: the program, its tables, state of strategies. 0 where mapped weights or the
  /// cache are not fully resident.
  [[nodiscard]] std::optional<std::int64_t> other_bytes() const;
};

/// Recorded memory; absent if the recording has none or the entry is damaged.
[[nodiscard]] std::optional<RunMemory> run_memory(const traces::Meta& meta, traces::RunId run);

struct Figures {
  const traces::Run* run = nullptr;
  std::string category;  ///< empty = all
  Throughput throughput;
  Acceptance acceptance;
  LoadedLayers layers;
  DraftCost cost;
  RunBreakdown breakdown;
  DeviceTime device;                       ///< Has no rounds where the device was not recorded.
  std::optional<RunMemory> memory;         ///< Absent where memory was not recorded.
  std::optional<Speedup> speedup;          ///< Absent without a baseline, and for the baseline itself.
  std::optional<OutputIdentity> identity;  ///< output_identity() with the baseline; absent for itself.
  /// Keys of the catalogue, or their objects with a final '.', of which an imported source says nothing.
  /// Their fields above hold 0.
  std::set<std::string, std::less<>> unknown;
  /// Keys of the catalogue whose values the source states of the whole run, so that no row gives them.
  std::set<std::string, std::less<>> stated;
};

/// Whether the source of an imported run says nothing of the figure with this key.
[[nodiscard]] bool is_unknown(const Figures& figures, std::string_view key);

struct RunFigures {
  Figures all;
  std::vector<Figures> by_category;
};

struct RecordingFigures {
  const traces::Run* baseline = nullptr;  ///< Null if the file has no vanilla run with finished requests.
  std::vector<RunFigures> runs;           ///< Runs in order of the recording.
};

/// `recording` must outlive the result. O(rows · log rows), plus 2000 bootstrap passes over the prompts.
[[nodiscard]] RecordingFigures measure(const traces::Recording& recording,
                                       std::span<const traces::Span> phase_spans = {},
                                       std::span<const DeviceInterval> device_intervals = {});

}  // namespace draftscope::simulator
