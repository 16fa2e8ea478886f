// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A strategy decides each round from what it saw of earlier ones: which sublayers draft, how long, when to
// stop, how wide to verify, whether to optimise. It never touches a backend; decode() executes the plan and
// reports the outcome. For further measurements a strategy uses a Probe.
//
// A round: plan() → draft → verification → acceptance → observe() → optimise().

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/next_token.h>
#include <draftscope/engine/probe.h>
#include <draftscope/speculation/branch_width.h>
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
#include <utility>
#include <vector>

namespace draftscope::engine {

/// A second model that drafts, with its own K/V: rows [0, valid) contain the text's first positions. Newer
/// tokens are fed to it before the next draft. A strategy sets `valid` to 0 when a request begins.
///
/// With `join` it is a next-token layer: its row i is made of the target's state at position i and of the
/// token at i + 1. The strategy then announces it (Strategy::next_token_layer()) and asks for the states
/// after the target's last layer (RoundPlan::states).
struct DraftModel {
  Backend* backend = nullptr;  ///< not owned
  std::int32_t valid = 0;      ///< number of its K/V rows that contain the text
  /// Whether a token may be drafted, by id (shared_tokens.h); not owned. Null = all, with the target's rows.
  const std::vector<bool>* shared_tokens = nullptr;
  const StateJoin* join = nullptr;  ///< null = a model that reads tokens alone; not owned
  std::vector<float> states;        ///< [positions from `valid` on][d_model], which it has yet to read
};

/// A second model, opened for a strategy.
struct OpenedDraftModel {
  // NOLINTNEXTLINE(google-explicit-constructor): A backend alone is a model whose rows are the target's.
  OpenedDraftModel(std::shared_ptr<Backend> opened = nullptr,
                   std::shared_ptr<const std::vector<bool>> shared = nullptr,
                   std::shared_ptr<const StateJoin> joins = nullptr)
      : backend(std::move(opened)), shared_tokens(std::move(shared)), join(std::move(joins)) {}

  std::shared_ptr<Backend> backend;  ///< keeps alive whatever it reads
  /// DraftModel::shared_tokens; null = no tokenizer says what rows mean, and both models must have as many.
  std::shared_ptr<const std::vector<bool>> shared_tokens;
  std::shared_ptr<const StateJoin> join;  ///< DraftModel::join
};

/// The request at its beginning, as a strategy sees it.
struct RequestView {
  std::span<const std::int32_t> prompt;
  std::int32_t max_new_tokens = 0;
  std::span<const std::int32_t> eos_tokens;
  bool greedy = true;
};

/// The round at its planning, as a strategy sees it.
struct RoundView {
  std::int32_t index = 0;              ///< number of the round within the request
  std::int32_t root_position = 0;      ///< position of the last emitted token
  std::int32_t remaining_tokens = 0;   ///< token budget, ≥ 1
  std::span<const std::int32_t> text;  ///< prompt and output; the root is the last element
  std::int64_t now_ns = 0;             ///< when the round began, which is when the one before ended
};

/// Way in which the target checks the draft.
enum class Verification : std::uint8_t {
  all_layers,  ///< one forward over root and draft tokens
  /// Reuses the draft's K/V and exit states: layers below the exit run for the last draft token only. Chains
  /// only.
  above_exit,
};

/// Acceptance rule for a chain that was drawn from a draft under a temperature without shared noise. The
/// output's distribution is the target's either way (docs/methods.md, Exact acceptance).
enum class Acceptance : std::uint8_t {
  by_token,  ///< token by token, by rejection sampling: Leviathan et al. 2023
  by_block,  ///< jointly, never accepting less on average: Sun et al. 2025, Block Verification
};

/// A draft token from no model: a guess, verified as a point mass.
struct Proposal {
  std::int32_t token = -1;
  std::int32_t parent = -1;  ///< index of an earlier proposal; -1 = the root
};

/// An additional row of the verification, computed for its prediction (lookahead, Jacobi).
struct ExtraRow {
  std::int32_t token = -1;
  std::int32_t offset = 1;  ///< position − root position
  std::span<const std::int32_t>
      sees;  ///< earlier extra rows that it attends to, besides the context and the root
};

inline constexpr std::int32_t max_stage_drafters = 8;

/// One stage of a draft that several drafters make in turn: one pass of one drafter after a node, over the
/// node's token and guesses of what follows. The drafter's own tokens are added as long as they equal the
/// guesses, then its first one that differs, or the one after all guesses.
struct DraftStage {
  /// Number of the drafter and of its K/V, below max_stage_drafters; −1 = none: the guesses are added as they
  /// are.
  std::int32_t drafter = -1;
  const speculation::SublayerMask* mask = nullptr;  ///< mask of the drafter; unused by guesses
  /// Weights of the drafter, as RoundPlan::weights; unused by guesses.
  std::optional<speculation::WeightFormat> weights;
  std::int32_t parent = -1;               ///< a node without children; −1 = the root
  std::span<const std::int32_t> guesses;  ///< guesses of the tokens after the parent
  /// Total probability of a drafter's token and its siblings: siblings are added until the sum reaches this
  /// value, as far as max_width allows.
  double mass = 0.0;
  std::int32_t max_width = 1;
};

/// Outcome of a stage.
struct StageOutcome {
  std::int32_t first_node = 0;  ///< New nodes begin here.
  std::int32_t last = -1;       ///< last token of the stage that may be extended: a node, or −1 = none
  std::int32_t rows = 0;        ///< rows of the stage's pass; 0 = guesses
  std::int64_t ns = 0;          ///< duration of the pass
};

struct DraftNode;

/// The draft so far.
struct StagedDraft {
  std::span<const std::int32_t> text;  ///< the root is the last
  std::span<const DraftNode> nodes;
  /// Probability of each node's token in the drafter's distribution it was drawn from, at temperature 1 if
  /// greedy; 1 for guesses.
  std::span<const double> shares;
  std::int32_t max_depth = 0;
};

/// Plans a staged draft. The choice of tokens to extend, by which drafter and how far, may depend on
/// everything drafted: no token ever leaves a draft (docs/methods.md, Exact acceptance, rule 5).
class DraftStages {
 public:
  virtual ~DraftStages() = default;
  /// The next stage; none = the draft is complete. Called again after each stage.
  [[nodiscard]] virtual std::optional<DraftStage> next(const StagedDraft& draft) = 0;
  virtual void end_stage(const StagedDraft& /*draft*/, const DraftStage& /*stage*/,
                         const StageOutcome& /*outcome*/) {}
};

struct RoundPlan {
  const speculation::SublayerMask* mask =
      nullptr;                    ///< mask of the draft; owned by the strategy. Null = no self-drafting
  std::int32_t draft_length = 0;  ///< γ; decode() limits it to the token budget, the context and the width
  /// Draft-exit threshold: a draft token of lower confidence ends the draft; -1 = none.
  double threshold = -1.0;
  /// Weight w of AdaEDL. If w > 0, the threshold is compared not with the confidence but with AdaEDL's bound
  /// on the acceptance, 1 − √(w·H). H is the entropy of the draft's distribution at temperature 1, in nats.
  double entropy_weight = 0.0;
  /// Weights of a self-draft, as Strategy::draft_weights() announced; none = the target's own.
  std::optional<speculation::WeightFormat> weights;
  Verification verification = Verification::all_layers;  ///< above_exit needs an early-exit mask
  Acceptance acceptance = Acceptance::by_token;          ///< by_block needs a chain
  std::string_view origin = "fixed";                     ///< origin of the mask, for the record
  /// Widths by falling confidence; the first entry that a step's confidence exceeds counts. Empty = a chain.
  std::span<const speculation::BranchWidth> branches;
  std::span<const Proposal> proposals;   ///< used instead of a draft by a model; parents before children
  std::span<const ExtraRow> extra_rows;  ///< dropped in a round that has no room for all of them
  DraftModel* draft_model = nullptr;     ///< drafts in place of `mask`; owned by the strategy
  DraftStages* stages = nullptr;         ///< drafts in place of `mask`, up to draft_length deep
  /// Layer boundaries whose hidden states of root and draft tokens the outcome shall contain
  /// (Wanted::hidden_after).
  std::span<const std::int32_t> states;
  bool keeps_states = false;  ///< whether they may stay in the backend's bank
  /// Number of the target's best tokens per row in RoundOutcome::top, at most the vocabulary; 0 = none. Not
  /// available together with a draft by a model.
  std::int32_t top = 0;
  /// Number of rounds, starting with this one, in which the strategy will not draft, whatever happens. A
  /// backend may run them in one go.
  std::int32_t ahead = 1;
};

/// One forward of the draft.
struct DraftStep {
  std::int32_t index = 0;
  std::int32_t token = -1;  ///< token that the next step started from
  double confidence = 0.0;  ///< the draft's probability of its best token, at temperature 1
};

/// A draft token. Nodes are in the order of verification: by depth, siblings in the order they were drawn.
/// Node i is row i + 1.
struct DraftNode {
  std::int32_t token = -1;
  std::int32_t parent = -1;  ///< index of the parent node; -1 = the root
  std::int32_t depth = 1;
  double confidence = 0.0;  ///< confidence of the node's step
  double probability =
      /// Probability of the token when it was drawn, with earlier siblings removed; 1 if greedy or given.
      1.0;
};

struct RoundOutcome {
  std::span<const DraftStep> steps;
  std::span<const DraftNode> nodes;
  std::span<const std::int32_t> accepted_nodes;  ///< from the root down
  /// Tokens that reached the output: the accepted ones, then the bonus token.
  std::span<const std::int32_t> emitted;
  traces::DraftStop stop = traces::DraftStop::no_draft;
  std::int32_t planned = 0;  ///< planned γ
  std::int32_t longest = 0;  ///< γ after limiting it to budget, context and width
  std::int64_t draft_ns = 0;
  std::int64_t verify_ns = 0;   ///< duration of the verification
  std::int64_t elapsed_ns = 0;  ///< time since the round began
  /// The target's best token after the root and after each node; `extra_rows` has that of each extra row.
  std::span<const TopToken> verified;
  std::span<const TopToken> extra_rows;
  std::span<const TopToken> top;  ///< [1 + nodes][plan.top], best first, ties to the lower token
  /// [plan.states.size()][1 + nodes][d_model]; empty if the states stayed in the backend's bank
  /// (StateBank::of_round()), where they last until the next round.
  std::span<const float> states;
  [[nodiscard]] std::int32_t drafted() const { return static_cast<std::int32_t>(nodes.size()); }
  [[nodiscard]] std::int32_t accepted() const { return static_cast<std::int32_t>(accepted_nodes.size()); }
};

/// A decision of a strategy, with its reasons. Times are those of the decision itself.
struct Decision {
  std::string_view kind;  ///< "layer set", "phase", "exit", "speculation length", "threshold", …
  double score = 0.0;
  bool has_score = false;
  bool adopted = true;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  /// Returns a JSON object; called only if decisions are recorded.
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
  /// Formats of weights that its plans may name, for a target with such weights. decode() has the backend
  /// prepare them before the request begins.
  [[nodiscard]] virtual std::vector<speculation::WeightFormat> draft_weights(
      const BackendDescription& /*target*/) {
    return {};
  }
  /// Begins a request. A strategy that learns per request forgets what it learnt.
  virtual void begin_request(const RequestView& /*request*/) {}
  [[nodiscard]] virtual RoundPlan plan(const RoundView& round) = 0;
  /// Reports the outcome of a round. `log` may be null, here and below.
  virtual void observe(const RoundOutcome& /*outcome*/, DecisionLog* /*log*/) {}
  /// Called after the prefill (`view.index` is -1) and after each round; may run passes through the probe.
  /// Its time is the round's optimise phase.
  [[nodiscard]] virtual Result<void> optimise(const RoundView& /*view*/, Probe& /*probe*/,
                                              DecisionLog* /*log*/) {
    return {};
  }
  /// Whether optimise() has anything to do now; otherwise there is no such phase.
  [[nodiscard]] virtual bool wants_to_optimise() const { return false; }
  /// Backend of a second model that only this strategy uses; null = none.
  [[nodiscard]] virtual const Backend* own_backend() const { return nullptr; }
  /// The next-token layer with which it drafts, which reads the target's states of the prompt; null = none.
  [[nodiscard]] virtual DraftModel* next_token_layer() { return nullptr; }
};

/// A strategy ready to decode, with its description for a trace.
struct ConfiguredStrategy {
  std::string name;
  /// Text as given, "layerskip:exit=4,gamma=6"; parameters in the order of the catalogue.
  std::string specification;
  std::string parameters;  ///< JSON object with every parameter, defaults filled in
  bool is_vanilla = false;
  std::string note = {};  ///< one line that whoever decodes with it should read; empty = none
  std::unique_ptr<Strategy> strategy;
};

/// Resources that a strategy may need from its caller.
struct StrategyResources {
  /// Opens another checkpoint. Null = a strategy that needs one is refused.
  std::function<Result<OpenedDraftModel>(const std::string& model)> open_draft_model;
  /// Hash of the target's checkpoint, by which ConfiguredStrategy::note says that a policy was made for
  /// another one. Empty = unknown.
  std::string checkpoint_hash;
  /// Opens the target's own next-token layer. Null = a strategy that needs it is refused.
  std::function<Result<OpenedDraftModel>()> open_next_token_layer;
};

/// Makes the strategy of a checked specification. Errors: a resource it needs, such as a file or a second
/// model, is not available, or a strategy of the catalogue is unknown here.
[[nodiscard]] Result<ConfiguredStrategy> make_strategy(
    const speculation::StrategySpecification& specification, const speculation::ModelShape& shape,
    const StrategyResources& resources = {});

/// Makes a strategy from `name:key=value,…` (speculation::parse_strategy).
[[nodiscard]] Result<ConfiguredStrategy> make_strategy(std::string_view specification,
                                                       const speculation::ModelShape& shape,
                                                       const StrategyResources& resources = {});

}  // namespace draftscope::engine
