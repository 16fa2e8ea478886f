// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rows of a trace, as values. Writer takes them, Reader returns them; traces/SCHEMA.md describes the
// tables.
//
// Conventions: every time is nanoseconds of CLOCK_MONOTONIC on the recording machine; intervals are half-open
// [start_ns, end_ns); layers, positions and indices are 0-based; an id is positive, and 0 means "none".

#include <draftscope/traces/ids.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::traces {

/// The activity that took a stretch of time. The order is the priority when intervals overlap (a kernel that
/// verifies while the host drafts counts only as verify). `idle` is never recorded: it is the rest of the
/// wall time.
enum class Phase : std::uint8_t { prefill, draft, verify, accept, optimise, control, sync, idle };
inline constexpr int phase_count = 8;
[[nodiscard]] std::string_view phase_name(Phase phase);

/// Why a draft ended.
enum class DraftStop : std::uint8_t {
  length,     ///< The planned speculation length was reached (0 planned included).
  threshold,  ///< Confidence fell below the draft-exit threshold.
  eos,        ///< The draft proposed an end-of-sequence token.
  budget,     ///< The request's token budget or the context ends here.
  no_draft,   ///< The strategy does not draft (vanilla) or had nothing to propose.
};
[[nodiscard]] std::string_view draft_stop_name(DraftStop stop);

/// Why a request ended.
enum class RequestStop : std::uint8_t {
  eos,
  length,
  context,
  cancelled,
  error,
  stop_string,  ///< The text contains a string that ends it; its last token completed that.
};
[[nodiscard]] std::string_view request_stop_name(RequestStop stop);

/// One strategy with one set of parameters; a file has one or several runs, recorded interleaved.
struct Run {
  RunId id;
  std::string strategy;       ///< Registered name, "layerskip".
  std::string specification;  ///< Text from the command line, "layerskip:exit=4,gamma=6".
  std::string parameters;     ///< JSON object: every parameter with its value, defaults included.
  bool is_baseline = false;   ///< Whether it is vanilla decoding by the same engine in the same recording.
};

struct Prompt {
  PromptId id;
  std::int64_t question_id = 0;  ///< Spec-Bench's number, or the line number in the prompt file.
  std::string category;
  std::int32_t turn = 0;
  std::string text;
  std::vector<std::int32_t> tokens;
};

/// One prompt decoded once. Wall time = end_ns - start_ns, prefill included.
struct Request {
  RequestId id;
  RunId run_id;
  PromptId prompt_id;
  std::int32_t repeat = 0;
  std::int64_t start_ns = 0;
  std::int64_t first_token_ns = 0;  ///< Time when the first output token was known; 0 if none was.
  std::int64_t end_ns = 0;
  std::uint64_t seed = 0;
  RequestStop stop = RequestStop::length;
  std::string text;                  ///< Decoded output.
  std::vector<std::int32_t> tokens;  ///< Output tokens, without a final EOS.
};

/// The sublayers that a draft ran. Bit 2ℓ = layer ℓ's attention is skipped, bit 2ℓ+1 = its MLP; little-endian
/// bytes.
struct LayerSet {
  LayerSetId id;
  std::int32_t n_layers = 0;
  std::int32_t exit_layer = 0;  ///< The first layer from which the mask skips everything; n_layers if none.
  std::vector<std::uint8_t> skipped;
  std::string origin;  ///< Origin of the choice: "fixed", "swift", "clasp", …
};

/// One draft–verify cycle. A vanilla step is a round that drafts nothing. The prefill is not a round.
struct Round {
  RoundId id;
  RequestId request_id;
  std::int32_t index = 0;  ///< Index within the request.
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int32_t root_position = 0;  ///< Position of the last emitted token, which the round extends.
  LayerSetId layer_set_id;         ///< The draft's layer set; 0 if nothing was drafted.
  std::int32_t exit_layer = 0;     ///< Exit layer E; 0 if nothing was drafted.
  std::int32_t planned = 0;        ///< Planned speculation length γ.
  std::int32_t drafted = 0;        ///< Draft length.
  /// Depth of the draft's token tree (tree_depth() below); `drafted` for a chain.
  std::int32_t tree_depth = 0;
  std::int32_t accepted = 0;      ///< Accepted length, before a cut: see text_share.h.
  std::int32_t emitted = 0;       ///< Tokens that reached the output.
  std::int32_t verify_rows = 0;   ///< Rows of the target's forward pass.
  std::int32_t bonus_token = -1;  ///< The target's own token that ends the round (correction or bonus).
  DraftStop draft_stop = DraftStop::no_draft;
  double threshold = -1.0;  ///< Draft-exit threshold in force; -1 if the strategy has none.
  std::int64_t draft_ns = 0;
  std::int64_t verify_ns = 0;
  std::int64_t accept_ns = 0;
  std::int64_t optimise_ns = 0;  ///< Time for searching better parameters.
  std::int64_t control_ns = 0;   ///< Time for planning and observing.
};

struct DraftToken {
  RoundId round_id;
  std::int32_t index = 0;    ///< Draft position: 0 extends the root.
  std::int32_t parent = -1;  ///< Index of the draft token that it extends; -1 = the root (a chain counts up).
  std::int32_t token = 0;
  double confidence = 0.0;   ///< The draft's probability of its top-1 token.
  double probability = 0.0;  ///< The draft's probability of `token` after warping; 1 when greedy.
  bool accepted = false;
  bool tested = false;  ///< Whether the verifier reached this token (false after the first rejection).
};

/// One decision of a strategy: its content, time and reason, and whether it took effect.
struct Decision {
  DecisionId id;
  RequestId request_id;
  RoundId round_id;  ///< Round after which, or in whose planning, it was made; 0 before the first.
  StringId kind_id;  ///< Id in `strings`: "layer set", "phase", "exit", "speculation length", "threshold",
                     ///< "schedule".
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;  ///< End of making it; start_ns if that was not measured.
  /// Score by which it was judged; not a number = none.
  double score = std::numeric_limits<double>::quiet_NaN();
  bool adopted = false;  ///< Whether it took effect.
  /// JSON object with the reason: candidate, statistics, values before and after.
  std::string detail = "{}";
};

/// A layer's own prediction: the head applied to the hidden state after the layers below `layer`.
struct ShadowToken {
  RequestId request_id;
  std::int32_t position = 0;  ///< Position of the predicted token, in prompt and output together; at least 1.
  std::int32_t layer = 0;     ///< Boundary, 1 to n_layers, which is the target itself.
  std::int32_t token = 0;     ///< The prediction: the best logit, on ties the lowest id.
  double probability = 0.0;   ///< Probability of `token` at temperature 1; the file stores millionths.
  double margin = 0.0;        ///< Best logit minus the second best; the file stores millionths, 0 is a tie.
  std::int32_t true_rank =
      0;  ///< Rank of the text's token in this prediction, 0 = `token`; -1 = beyond the ranked.
};

/// The text of a token when it follows other text; U+FFFD for a token that is part of a character.
struct TokenText {
  std::int32_t token = 0;
  std::string text;
};

/// A lane of the timeline.
struct Track {
  TrackId id;
  std::string
      kind;  ///< "host", "calls", "stream", "operations", "block", "sync", "overhead", "rank", "counter".
  std::string name;
  TrackId parent_id;
  std::int32_t sort = 0;
};

/// A nested interval on the host. `name` is interned with Writer::intern.
struct Span {
  SpanId id;
  SpanId parent_id;  ///< Enclosing span.
  TrackId track_id;
  RequestId request_id;
  RoundId round_id;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  StringId name_id;  ///< Id in `strings`.
  std::int32_t layer = -1;
  std::uint8_t depth = 0;  ///< Nesting depth; 0 = phase.
  Phase phase = Phase::control;
};

/// A device activity. Field names follow Nsight Systems' export where it has them. The CPU backend has none.
struct Kernel {
  KernelId id;
  SpanId span_id;  ///< Host span that launched it.
  TrackId track_id;
  RequestId request_id;
  RoundId round_id;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  StringId short_name_id;  ///< Id in `strings`.
  std::int32_t layer = -1;
  Phase phase = Phase::control;
  std::uint32_t stream_id = 0;
  std::uint32_t correlation_id = 0;
  std::uint32_t graph_id = 0;
  std::uint64_t graph_node_id = 0;
  std::int32_t grid_x = 0, grid_y = 0, grid_z = 0;
  std::int32_t block_x = 0, block_y = 0, block_z = 0;
  // The fields below describe an operation that a kernel timed by itself, on a track of kind "operations"; 0
  // elsewhere.
  std::int64_t bytes = 0;                        ///< Bytes that it must read: weights and K/V.
  std::int64_t wait_ns = 0;                      ///< Mean time that a block waited for the last one.
  std::int64_t first_end_ns = 0;                 ///< Time when the first block finished.
  std::int32_t first_block = 0, last_block = 0;  ///< Blocks that finished first and last.
  // What a block of a kernel takes of a multiprocessor.
  std::int32_t registers_per_thread = 0;  ///< 0 = not recorded; then the two below are 0, too.
  std::int32_t static_shared_bytes = 0, dynamic_shared_bytes = 0;  ///< Shared memory of a block.
};

struct Counter {
  TrackId track_id;
  std::int64_t timestamp_ns = 0;
  double value = 0.0;
};

/// Tokens on the longest path from the root, among one round's draft tokens in the order of their index; a
/// chain's depth is its length. A parent has a smaller index than its child; any other value counts as the
/// root.
[[nodiscard]] std::int32_t tree_depth(std::span<const DraftToken> tokens);

}  // namespace draftscope::traces
