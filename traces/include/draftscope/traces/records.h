// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rows of a trace, as values. Writer takes them, Reader gives them back; the tables are in
// traces/SCHEMA.md.
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

/// The activity that a stretch of time was spent on. The order is the priority when intervals overlap (a
/// kernel that verifies while the host drafts counts as verify once). `idle` is never recorded: it is what
/// remains of the wall time.
enum class Phase : std::uint8_t { prefill, draft, verify, accept, optimise, control, sync, idle };
inline constexpr int phase_count = 8;
[[nodiscard]] std::string_view phase_name(Phase phase);

/// Why a draft ended.
enum class DraftStop : std::uint8_t {
  length,     ///< the planned speculation length was reached (0 planned included)
  threshold,  ///< confidence fell below the draft-exit threshold
  eos,        ///< the draft proposed an end-of-sequence token
  budget,     ///< the request's token budget or the context ends here
  no_draft,   ///< the strategy does not draft (vanilla) or had nothing to propose
};
[[nodiscard]] std::string_view draft_stop_name(DraftStop stop);

/// Why a request ended.
enum class RequestStop : std::uint8_t {
  eos,
  length,
  context,
  cancelled,
  error,
  stop_string,  ///< the text holds a string that ends it; its last token completed that
};
[[nodiscard]] std::string_view request_stop_name(RequestStop stop);

/// One strategy with one set of parameters; a file holds one or several, recorded interleaved.
struct Run {
  RunId id;
  std::string strategy;       ///< registered name, "layerskip"
  std::string specification;  ///< as given on the command line, "layerskip:exit=4,gamma=6"
  std::string parameters;     ///< JSON object: every parameter with its value, defaults included
  bool is_baseline = false;   ///< vanilla decoding by the same engine in the same recording
};

struct Prompt {
  PromptId id;
  std::int64_t question_id = 0;  ///< Spec-Bench's number, or the line number in the prompt file
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
  std::int64_t first_token_ns = 0;  ///< when the first output token was known; 0 if none was
  std::int64_t end_ns = 0;
  std::uint64_t seed = 0;
  RequestStop stop = RequestStop::length;
  std::string text;                  ///< decoded output
  std::vector<std::int32_t> tokens;  ///< output tokens, without a final EOS
};

/// The sublayers that a draft ran. Bit 2ℓ = layer ℓ's attention is skipped, bit 2ℓ+1 = its MLP; little-endian
/// bytes.
struct LayerSet {
  LayerSetId id;
  std::int32_t n_layers = 0;
  std::int32_t exit_layer = 0;  ///< the mask's first layer from which everything is skipped; n_layers if none
  std::vector<std::uint8_t> skipped;
  std::string origin;  ///< what chose it: "fixed", "swift", "clasp", …
};

/// One draft–verify cycle. A vanilla step is a round that drafts nothing. The prefill is not a round.
struct Round {
  RoundId id;
  RequestId request_id;
  std::int32_t index = 0;  ///< within the request
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int32_t root_position = 0;  ///< position of the last emitted token, which the round extends
  LayerSetId layer_set_id;         ///< the draft's; 0 if nothing was drafted
  std::int32_t exit_layer = 0;     ///< E, or 0 if nothing was drafted
  std::int32_t planned = 0;        ///< γ
  std::int32_t drafted = 0;        ///< draft length
  std::int32_t tree_depth = 0;     ///< of the draft's token tree (tree_depth() below); a chain's is `drafted`
  std::int32_t accepted = 0;       ///< accepted length, before a cut at EOS or the budget
  std::int32_t emitted = 0;        ///< tokens that reached the output
  std::int32_t verify_rows = 0;    ///< rows of the target forward
  std::int32_t bonus_token = -1;   ///< the target's own token that ends the round (correction or bonus)
  DraftStop draft_stop = DraftStop::no_draft;
  double threshold = -1.0;  ///< draft-exit threshold in force; -1 if the strategy has none
  std::int64_t draft_ns = 0;
  std::int64_t verify_ns = 0;
  std::int64_t accept_ns = 0;
  std::int64_t optimise_ns = 0;  ///< searching for better parameters
  std::int64_t control_ns = 0;   ///< planning, observing
};

struct DraftToken {
  RoundId round_id;
  std::int32_t index = 0;    ///< draft position: 0 extends the root
  std::int32_t parent = -1;  ///< index of the draft token it extends; -1 = the root (a chain counts up)
  std::int32_t token = 0;
  double confidence = 0.0;   ///< the draft's probability of its top-1 token
  double probability = 0.0;  ///< the draft's probability of `token` after warping; 1 when greedy
  bool accepted = false;
  bool tested = false;  ///< the verifier got as far as this token (false after the first rejection)
};

/// One decision of a strategy: what it chose, when, why, and whether that took effect.
struct Decision {
  DecisionId id;
  RequestId request_id;
  RoundId round_id;  ///< after which, or in whose planning, it was made; 0 before the first
  StringId
      kind_id;  ///< strings.id: "layer set", "phase", "exit", "speculation length", "threshold", "schedule"
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;  ///< the time spent on making it; start_ns if that was not measured
  double score = std::numeric_limits<double>::quiet_NaN();  ///< what it was judged by; not a number = none
  bool adopted = false;                                     ///< it took effect
  std::string detail = "{}";  ///< JSON object with the reason: candidate, statistics, values before and after
};

/// A layer's own prediction: the head applied to the hidden state after the layers below `layer`.
struct ShadowToken {
  RequestId request_id;
  std::int32_t position = 0;  ///< of the token that is predicted, in prompt and output together; at least 1
  std::int32_t layer = 0;     ///< boundary, 1 to n_layers, which is the target itself
  std::int32_t token = 0;     ///< the prediction: the best logit, among equal ones the lowest id
  double probability = 0.0;   ///< of `token` at temperature 1; the file keeps millionths
  double margin = 0.0;        ///< best logit minus the second best; the file keeps millionths, 0 is a tie
  std::int32_t true_rank =
      0;  ///< of the text's token in this prediction, 0 = `token`; -1 = beyond the ranked
};

/// The text of a token by itself, behind other text; U+FFFD for a token that is part of a character.
struct TokenText {
  std::int32_t token = 0;
  std::string text;
};

/// A lane of the timeline.
struct Track {
  TrackId id;
  std::string kind;  ///< "host", "stream", "operations", "block", "sync", "overhead", "rank", "counter"
  std::string name;
  TrackId parent_id;
  std::int32_t sort = 0;
};

/// A nested interval on the host. `name` is interned with Writer::intern.
struct Span {
  SpanId id;
  SpanId parent_id;  ///< enclosing span
  TrackId track_id;
  RequestId request_id;
  RoundId round_id;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  StringId name_id;  ///< strings.id
  std::int32_t layer = -1;
  std::uint8_t depth = 0;  ///< 0 = phase
  Phase phase = Phase::control;
};

/// A device activity. Field names follow Nsight Systems' export where it has them. Empty on the CPU backend.
struct Kernel {
  KernelId id;
  SpanId span_id;  ///< host span that launched it
  TrackId track_id;
  RequestId request_id;
  RoundId round_id;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  StringId short_name_id;  ///< strings.id
  std::int32_t layer = -1;
  Phase phase = Phase::control;
  std::uint32_t stream_id = 0;
  std::uint32_t correlation_id = 0;
  std::uint32_t graph_id = 0;
  std::uint64_t graph_node_id = 0;
  std::int32_t grid_x = 0, grid_y = 0, grid_z = 0;
  std::int32_t block_x = 0, block_y = 0, block_z = 0;
  // Of an operation that a kernel timed by itself, on a track of kind "operations"; 0 elsewhere.
  std::int64_t bytes = 0;                        ///< that it must read: weights and K/V
  std::int64_t wait_ns = 0;                      ///< mean time that a block waited for the last one
  std::int64_t first_end_ns = 0;                 ///< when the first block was done
  std::int32_t first_block = 0, last_block = 0;  ///< to be done
};

struct Counter {
  TrackId track_id;
  std::int64_t timestamp_ns = 0;
  double value = 0.0;
};

/// Tokens on the longest path from the root, of one round's draft tokens in the order of their index; a chain
/// is as deep as it is long. A parent has a smaller index than its child; any other value counts as the root.
[[nodiscard]] std::int32_t tree_depth(std::span<const DraftToken> tokens);

}  // namespace draftscope::traces
