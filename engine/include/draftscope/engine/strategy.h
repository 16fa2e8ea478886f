// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A strategy decides each round from what it saw of earlier ones: which sublayers draft, how long, when to
// stop, how wide to verify, whether to optimise. It never touches a backend; decode() does what the plan says
// and reports what came of it. What a strategy wants to know beyond that, it asks of a Probe.
//
// A round: plan() → the draft → verification → acceptance → observe() → optimise().

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/probe.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/model_shape.h>
#include <draftscope/speculation/sublayer_mask.h>
#include <draftscope/speculation/weight_format.h>
#include <draftscope/traces/records.h>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::engine {

/// A model that drafts, with K/V of its own: rows [0, valid) hold the text's first positions; what the text
/// went beyond is fed before the next draft. A strategy sets `valid` to 0 when a request begins.
struct DraftModel {
  Backend* backend = nullptr;  ///< not owned
  std::int32_t valid = 0;      ///< rows of its K/V that hold the text
};

/// The request, as a strategy knows it when it begins.
struct RequestView {
  std::span<const std::int32_t> prompt;
  std::int32_t max_new_tokens = 0;
  std::span<const std::int32_t> eos_tokens;
  bool greedy = true;
};

/// The round, as a strategy knows it when it plans.
struct RoundView {
  std::int32_t index = 0;              ///< number of the round within the request
  std::int32_t root_position = 0;      ///< position of the last emitted token
  std::int32_t remaining_tokens = 0;   ///< token budget, ≥ 1
  std::span<const std::int32_t> text;  ///< prompt and output; the root is the last
  std::int64_t now_ns = 0;             ///< when the round began, which is when the one before ended
};

/// How the target checks the draft.
enum class Verification : std::uint8_t {
  all_layers,  ///< one forward over root and draft tokens
  above_exit,  ///< keeps the draft's K/V and exit states: layers below the exit run for the last draft token
               ///< only; chains alone
};

/// How a chain that was drawn from a draft is accepted under a temperature without shared noise. The output's
/// distribution is the target's either way (docs/methods.md, Exact acceptance).
enum class Acceptance : std::uint8_t {
  by_token,  ///< token by token, by rejection sampling: Leviathan et al. 2023
  by_block,  ///< jointly, which never accepts less on average: Sun et al. 2025, Block Verification
};

/// A draft step whose confidence is above `confidence` keeps `width` tokens: the first goes on drafting, its
/// siblings are verified beside it.
struct BranchWidth {
  double confidence = 0.0;
  std::int32_t width = 1;
};

/// A draft token that no model drafted: a guess, verified as a point mass.
struct Proposal {
  std::int32_t token = -1;
  std::int32_t parent = -1;  ///< index of an earlier proposal; -1 = the root
};

/// A row that rides along in the verification, for what its prediction says (lookahead, Jacobi).
struct ExtraRow {
  std::int32_t token = -1;
  std::int32_t offset = 1;  ///< position − root position
  std::span<const std::int32_t>
      sees;  ///< earlier extra rows that it attends to, beside the context and the root
};

/// Another model that drafts, with its own K/V.
struct DraftModel;

inline constexpr std::int32_t max_stage_drafters = 8;

/// One stage of a draft that several drafters make in turn: one pass of one of them after a node, over its
/// token and guesses of what follows. The drafter's own tokens are added as long as they are the guesses, and
/// the first that is not, or the one after them all.
struct DraftStage {
  /// The drafter's number, below max_stage_drafters, which its K/V goes by; −1 = none: the guesses are added
  /// as they are.
  std::int32_t drafter = -1;
  const speculation::SublayerMask* mask = nullptr;   ///< the drafter's; unused by guesses
  std::optional<speculation::WeightFormat> weights;  ///< likewise, as RoundPlan::weights
  std::int32_t parent = -1;                          ///< a node without children; −1 = the root
  std::span<const std::int32_t> guesses;             ///< guesses of what follows the parent
  /// A token of the drafter's brings siblings until all of them have this probability together, as far as
  /// max_width lets it.
  double mass = 0.0;
  std::int32_t max_width = 1;
};

/// End of a stage.
struct StageOutcome {
  std::int32_t first_node = 0;  ///< nodes from here on are new
  std::int32_t last = -1;       ///< the stage's last token that may be extended: a node, or −1 = none
  std::int32_t rows = 0;        ///< rows of its pass; 0 = guesses
  std::int64_t ns = 0;          ///< duration of the pass
};

struct DraftNode;

/// The draft as it grows.
struct StagedDraft {
  std::span<const std::int32_t> text;  ///< the root is the last
  std::span<const DraftNode> nodes;
  /// By node: the drafter's probability of the token, as it was drawn from, at temperature 1 if greedy; of a
  /// guess 1.
  std::span<const double> shares;
  std::int32_t max_depth = 0;
  std::int32_t max_nodes = 0;
};

/// Plans a staged draft. Which tokens it extends, by what and how far may depend on all that was drafted: no
/// token leaves a draft (docs/methods.md, Exact acceptance, rule 5).
class DraftStages {
 public:
  virtual ~DraftStages() = default;
  /// The next stage; none = the draft is done. Asked again after each.
  [[nodiscard]] virtual std::optional<DraftStage> next(const StagedDraft& draft) = 0;
  virtual void end_stage(const StagedDraft& /*draft*/, const DraftStage& /*stage*/,
                         const StageOutcome& /*outcome*/) {}
};

struct RoundPlan {
  const speculation::SublayerMask* mask =
      nullptr;                    ///< the draft's; owned by the strategy. Null = no self-drafting
  std::int32_t draft_length = 0;  ///< γ; decode() cuts it at the token budget, the context and the width
  /// Draft-exit threshold: a draft token of lower confidence is the round's last; -1 = none.
  double threshold = -1.0;
  /// w > 0: what the threshold is compared with is not the confidence but AdaEDL's bound on the acceptance,
  /// 1 − √(w·H), with H the entropy of the draft's distribution at temperature 1, in nats.
  double entropy_weight = 0.0;
  /// Weights of a self-draft, as Strategy::draft_weights() announced; none = the target's own.
  std::optional<speculation::WeightFormat> weights;
  Verification verification = Verification::all_layers;  ///< above_exit needs an early-exit mask
  Acceptance acceptance = Acceptance::by_token;          ///< by_block needs a chain
  std::string_view origin = "fixed";                     ///< what chose the mask, for the record
  /// By falling confidence; the first that a step's confidence exceeds counts. Empty = a chain.
  std::span<const BranchWidth> branches;
  std::span<const Proposal> proposals;   ///< instead of a draft by a model; parents before children
  std::span<const ExtraRow> extra_rows;  ///< left out of a round that has no room for all of them
  DraftModel* draft_model = nullptr;     ///< drafts in place of `mask`; owned by the strategy
  DraftStages* stages = nullptr;         ///< drafts in place of `mask`, up to draft_length deep
  /// Layer boundaries whose hidden states of root and draft tokens the outcome shall hold
  /// (Wanted::hidden_after).
  std::span<const std::int32_t> states;
  bool keeps_states = false;  ///< they may stay in the backend's bank
  /// How many of the target's best tokens RoundOutcome::top shall hold of each row, at most the vocabulary;
  /// 0 = none. Not beside a draft by a model.
  std::int32_t top = 0;
  /// Rounds from this one on in which the strategy will not draft, whatever comes: a backend may run them in
  /// one go.
  std::int32_t ahead = 1;
};

/// One forward of the draft.
struct DraftStep {
  std::int32_t index = 0;
  std::int32_t token = -1;  ///< what the next step started from
  double confidence = 0.0;  ///< the draft's probability of its best token, at temperature 1
};

/// A draft token in the order of verification: by depth, siblings as they were drawn. Index i is row i + 1.
struct DraftNode {
  std::int32_t token = -1;
  std::int32_t parent = -1;  ///< node; -1 = the root
  std::int32_t depth = 1;
  double confidence = 0.0;  ///< confidence of its step
  double probability =
      1.0;  ///< the token's when it was drawn, without earlier siblings; 1 if greedy or given
};

struct RoundOutcome {
  std::span<const DraftStep> steps;
  std::span<const DraftNode> nodes;
  std::span<const std::int32_t> accepted_nodes;  ///< from the root down
  std::span<const std::int32_t> emitted;         ///< reached the output: accepted ones, then the bonus token
  traces::DraftStop stop = traces::DraftStop::no_draft;
  std::int32_t planned = 0;     ///< γ as planned
  std::int32_t longest = 0;     ///< γ after the cut at budget, context and width
  std::int64_t draft_ns = 0;    ///< duration of the draft
  std::int64_t verify_ns = 0;   ///< duration of the verification
  std::int64_t elapsed_ns = 0;  ///< since the round began
  /// The target's best token after the root and after each node; of extra rows likewise.
  std::span<const TopToken> verified;
  std::span<const TopToken> extra_rows;
  std::span<const TopToken> top;  ///< [1 + nodes][plan.top]: the best first, ties to the lower token
  /// [plan.states.size()][1 + nodes][d_model]; empty where they stayed in the backend's bank
  /// (StateBank::of_round()), until the next round.
  std::span<const float> states;
  [[nodiscard]] std::int32_t drafted() const { return static_cast<std::int32_t>(nodes.size()); }
  [[nodiscard]] std::int32_t accepted() const { return static_cast<std::int32_t>(accepted_nodes.size()); }
};

/// Where a strategy's decisions go, with their reasons. Times are the decision's own.
struct Decision {
  std::string_view kind;  ///< "layer set", "phase", "exit", "speculation length", "threshold", …
  double score = 0.0;
  bool has_score = false;
  bool adopted = true;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  /// A JSON object; called only if somebody records.
  std::function<std::string()> detail;
};

class DecisionLog {
 public:
  virtual ~DecisionLog() = default;
  virtual void add(const Decision& decision) = 0;
};

/// Thread-safety: none. One instance decodes one request at a time.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Weights that its plans may name for a target with such weights: decode() has the backend prepare them
  /// before the request begins.
  [[nodiscard]] virtual std::vector<speculation::WeightFormat> draft_weights(
      const BackendDescription& /*target*/) {
    return {};
  }
  /// Forgets what it learnt if it learns per request.
  virtual void begin_request(const RequestView& /*request*/) {}
  [[nodiscard]] virtual RoundPlan plan(const RoundView& round) = 0;
  /// `log` may be null, here and below.
  virtual void observe(const RoundOutcome& /*outcome*/, DecisionLog* /*log*/) {}
  /// After the prefill (`view.index` is -1) and after each round, with passes to spend if it wants any. Its
  /// time is the round's optimise phase.
  [[nodiscard]] virtual Result<void> optimise(const RoundView& /*view*/, Probe& /*probe*/,
                                              DecisionLog* /*log*/) {
    return {};
  }
  /// Whether optimise() has anything to do now: without it there is no such phase.
  [[nodiscard]] virtual bool wants_to_optimise() const { return false; }
  /// The backend of a second model, which only this strategy uses; null = none.
  [[nodiscard]] virtual const Backend* own_backend() const { return nullptr; }
};

/// A strategy ready to decode, with what a trace says of it.
struct ConfiguredStrategy {
  std::string name;
  std::string specification;  ///< text as given, "layerskip:exit=4,gamma=6"; parameters in their listed order
  std::string parameters;     ///< JSON object with every parameter, defaults filled in
  bool is_vanilla = false;
  std::unique_ptr<Strategy> strategy;
};

/// Resources that a strategy may need of its caller.
struct StrategyResources {
  /// A backend of another checkpoint, that keeps alive whatever it reads. Null: a strategy that asks is
  /// refused.
  std::function<Result<std::shared_ptr<Backend>>(const std::string& model)> open_draft_model;
  /// The target's, by which `tuned` notices that its policy comes from another checkpoint. Empty = unknown.
  std::string checkpoint_hash;
};

/// The strategy of a checked specification. Errors: what it needs cannot be had, such as a file or a second
/// model, or a strategy of the catalogue is unknown here.
[[nodiscard]] Result<ConfiguredStrategy> make_strategy(
    const speculation::StrategySpecification& specification, const speculation::ModelShape& shape,
    const StrategyResources& resources = {});

/// Makes a strategy from `name:key=value,…` (speculation::parse_strategy).
[[nodiscard]] Result<ConfiguredStrategy> make_strategy(std::string_view specification,
                                                       const speculation::ModelShape& shape,
                                                       const StrategyResources& resources = {});

}  // namespace draftscope::engine
