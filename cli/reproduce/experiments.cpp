// SPDX-License-Identifier: GPL-3.0-or-later
#include "reproduce/experiments.h"

namespace draftscope::cli {

namespace {

using simulator::Convention;
using Rows = std::vector<ExperimentRow>;

SettingRow vanilla(std::string published = "") {
  return {"vanilla", "vanilla", std::move(published), true};
}

SearchRow skip_set_search(bool by_category = false) {
  return {"sets", {"--search", "skip-set", "--trials", "40", "--limit", "8"}, by_category};
}

SearchRow grid_search(bool by_category = false) {
  return {"grid", {"--search", "grid", "--limit", "10", "-s", "layerskip"}, by_category};
}

constexpr const char* demo_layerskip = "models/demo-layerskip";
constexpr const char* demo_plain = "models/demo-plain";

/// Deviation of every row with a short search from Draft & Verify.
const std::string& shorter_search() {
  static const std::string text =
      "the search of the set has 40 teacher-forced trials after a ranking, not 1,000 decoded ones";
  return text;
}

Rows layerskip_rows() {
  return {
      {.name = "layerskip-table",
       .item = "Benchmark table: early exit beside another model as assistant",
       .searches = {grid_search()},
       .settings = {vanilla(),
                    {"early exit at L/4", "layerskip", "LayerSkip*", true},
                    {"early exit, tuned", "layerskip:exit={grid.exit},gamma={grid.gamma}", "LayerSkip*"},
                    {"transformers 5's own length and threshold",
                     "mix:mask=exit,stop=threshold,threshold=0.4,gamma=20,verify=above-exit"},
                    {"another model", "two-model:model={draft}", "two-model*"}},
       .figures = {"wall_ns_per_token", "acceptance_rate", "speedup"},
       .sources = {"HF LayerSkip blog"},
       .differs = "one recording has one target model: the blog's two-model rows have targets of their own"},
      {.name = "layerskip-exits",
       .item = "How early can we exit? Speed by exit layer",
       .printer = Printer::curve,
       // Two exits are learnt from: a short draft may stay in a cache that a long one does not fit.
       .settings = {vanilla(),
                    {"L/4", "layerskip:exit={L/4}", "", true},
                    {"L-2", "layerskip:exit={L-2}", "", true},
                    {"early exit", "layerskip"}},
       .axis = {"exit", {"exits"}},
       .figures = {"tokens_per_second", "acceptance_rate", "speedup"}}};
}

Rows draft_verify_rows() {
  const auto curve = [&](std::string name, std::string item, std::string label, std::string strategy,
                         std::string learnt, AxisRow axis, std::vector<std::string> sources) {
    return ExperimentRow{.name = std::move(name),
                         .item = std::move(item),
                         .printer = Printer::curve,
                         .searches = {skip_set_search()},
                         .settings = {vanilla(),
                                      {"adaptive", std::move(learnt), "Self-SD adaptive*", true},
                                      {std::move(label), std::move(strategy), "Self-SD*"}},
                         .axis = std::move(axis),
                         .figures = {"acceptance_rate", "speedup"},
                         .sources = std::move(sources),
                         .differs = shorter_search()};
  };
  const auto search = [](std::string name, std::string item, Printer printer,
                         std::vector<std::string> sources) {
    return ExperimentRow{
        .name = std::move(name),
        .item = std::move(item),
        .printer = printer,
        .searches = {{"sets",
                      {"--search", "skip-set", "--score", "decoded", "--trials", "60", "--limit", "8"}}},
        .sources = std::move(sources),
        .differs = "60 trials in place of 1,000"};
  };
  const std::string adaptive = "draft-verify:skip-set={sets}";
  const std::string adaptive_source = "D&V sec 4.4 / App F text (Table 1";
  const auto task_table = [&](std::string name, std::string item, std::vector<std::string> decoding,
                              std::vector<std::string> sources, const std::string& differs) {
    return ExperimentRow{
        .name = std::move(name),
        .item = std::move(item),
        .searches = {skip_set_search()},
        .settings = {vanilla(), {"Self-SD", adaptive, sources.empty() ? "" : "Self-SD adaptive*"}},
        .figures = {"acceptance_rate", "wall_ns_per_token", "speedup"},
        .decoding = std::move(decoding),
        .sources = std::move(sources),
        .differs = shorter_search() + differs};
  };
  return {
      {.name = "draft-verify-figure-2",
       .item = "Figure 2: speedup by number of draft tokens and acceptance",
       .printer = Printer::closed_form,
       .differs = "the publication does not print its formula; this is that of Leviathan et al. 2023"},
      task_table("draft-verify-table-1", "Tables 1 and 2: speedup by task", {},
                 {adaptive_source, "D&V sec 4.2 text"}, ""),
      curve("draft-verify-table-3", "Table 3: a fixed number K of draft tokens", "fixed K",
            "mix:mask=skip-set,skip-set={sets}", adaptive, {"gamma", {"2", "4", "6", "8", "12"}},
            {"D&V sec 4.4 text (Table 3)", adaptive_source}),
      curve("draft-verify-table-4", "Table 4: static draft-exit thresholds, K = 12", "static threshold",
            "mix:mask=skip-set,skip-set={sets},stop=threshold,gamma=12", adaptive,
            {"threshold", {"0.2", "0.4", "0.6", "0.8"}, "static threshold "},
            {"D&V sec 4.4 text (Table 4", adaptive_source}),
      {.name = "draft-verify-table-5",
       .item = "Table 5: time per token by part of the work",
       .printer = Printer::phases,
       .searches = {skip_set_search()},
       .settings = {vanilla(), {"Self-SD", adaptive}},
       .decoding = {"--level", "ops"},
       .differs = shorter_search() + "; timing every operation of a processor costs time itself"},
      curve("draft-verify-table-6", "Table 6: the acceptance that the threshold aims at", "adaptive",
            adaptive, adaptive + ",target=0.9", {"target", {"0.7", "0.8", "0.85", "0.9"}},
            std::vector{adaptive_source}),
      {.name = "draft-verify-table-7",
       .item = "Table 7 and Figure 7: ways to choose the skipped sublayers",
       .searches = {skip_set_search()},
       .settings = {vanilla(),
                    {"search", adaptive, "Self-SD adaptive*"},
                    {"first", "draft-verify:skip-attention=first-{L/3},skip-mlp=first-{L/3}"},
                    {"middle", "draft-verify:skip-attention=middle-{L/3},skip-mlp=middle-{L/3}"},
                    {"last", "draft-verify:skip-attention=last-{L/3},skip-mlp=last-{L/3}"},
                    {"uniform", "draft-verify:skip-attention=uniform-{L/3},skip-mlp=uniform-{L/3}"},
                    {"random", "draft-verify:skip-attention=random-{L/3},skip-mlp=random-{L/3}"}},
       .figures = {"acceptance_rate", "speedup"},
       .sources = {adaptive_source},
       .differs = shorter_search() + "; the other sets skip a third of the attentions and MLPs"},
      search("draft-verify-table-8", "Table 8, Figures 6 and 8: the set after ever more iterations",
             Printer::sets, {"D&V App E text (Table 8)"}),
      curve("draft-verify-table-10", "Table 10: most draft tokens under the adaptive threshold", "adaptive",
            adaptive, adaptive + ",gamma=8", {"gamma", {"4", "8", "12", "16", "20"}},
            std::vector{adaptive_source}),
      task_table("draft-verify-table-11", "Table 11: a target of fewer bits: q8_0", {"--weights", "q8_0"}, {},
                 "; the set was found for the weights as stored; one type of those that record --weights "
                 "takes"),
      task_table("draft-verify-table-13", "Table 13: mathematics and chat", {}, {"D&V App I text"},
                 "; needs their prompts (--prompts); all of them are decoded greedily"),
      {.name = "draft-verify-table-16",
       .item = "Figure 1 and Table 16: what is decoded",
       .printer = Printer::texts,
       .searches = {skip_set_search()},
       .settings = {vanilla(), {"Self-SD", adaptive}},
       .differs = shorter_search()},
      search("draft-verify-figure-4", "Figure 4: speedup by number of skipped sublayers", Printer::trials,
             {}),
      {.name = "draft-verify-figure-5",
       .item = "Figure 5: the threshold over rounds",
       .printer = Printer::decisions,
       .searches = {skip_set_search()},
       .settings = {vanilla(), {"Self-SD", adaptive + ",threshold=0.4"}},
       .differs = shorter_search()}};
}

Rows swift_rows() {
  const std::string uniform = "skip-attention=uniform-{L/3},skip-mlp=uniform-{L/3}";
  return {
      {.name = "swift-table-2",
       .item = "Tables 2 and 4: SWIFT beside Jacobi and lookahead decoding by task",
       .settings = {vanilla("Vanilla"),
                    {"Parallel", "jacobi:rule=published", "Parallel"},
                    {"Lookahead", "lookahead", "Lookahead"},
                    {"SWIFT", "swift", "SWIFT"}},
       .figures = {"accepted_length", "acceptance_rate", "expected_speedup", "speedup"},
       .sources = {"SWIFT Table 2"}},
      {.name = "swift-table-3",
       .item = "Table 3, pass@10: sampled decoding",
       .settings = {vanilla("Vanilla"), {"SWIFT", "swift", "SWIFT"}},
       .figures = {"accepted_length", "acceptance_rate", "speedup"},
       .decoding = {"--temperature", "0.6", "--top-p", "0.95"},
       .sources = {"SWIFT Table 3"},
       .differs = "pass@1 and pass@10 are not judged; published values are of greedy decoding, too"},
      {.name = "swift-table-5",
       .item = "Tables 5 and 6 and Figure 9: models other than Llama",
       .settings = {vanilla(), {"SWIFT", "swift", "SWIFT"}},
       .figures = {"accepted_length", "acceptance_rate", "speedup"},
       .sources = {"SWIFT Table 5", "SWIFT Table 6"},
       .differs = "one model a call, that of --model"},
      {.name = "swift-table-7",
       .item = "Table 7: SWIFT without one of its parts",
       .settings = {vanilla("Vanilla"),
                    {"SWIFT", "swift", "SWIFT"},
                    {"without early stopping", "mix:mask=swift,stop=none,shape=tree,gamma=25",
                     "SWIFT w/o early-stopping"},
                    {"without dynamic verification", "mix:mask=swift,stop=threshold,threshold=0.8,gamma=25",
                     "SWIFT w/o dynamic verification"},
                    {"without optimisation", "swift:max-iterations=0", "SWIFT w/o optimization*"}},
       .figures = {"accepted_length", "acceptance_rate", "speedup"},
       .sources = {"SWIFT Table 7"}},
      {.name = "swift-table-8",
       .item = "Table 8: the window on which candidates are scored",
       .printer = Printer::curve,
       .settings = {vanilla(), {"window 32", "swift:window=32", "", true}, {"SWIFT", "swift", "SWIFT"}},
       .axis = {"window", {"16", "32", "64", "128"}, "context window="},
       .figures = {"accepted_length", "acceptance_rate", "speedup"},
       .sources = {"SWIFT Table 8"},
       .differs = "a window of more than 64 tokens takes several passes"},
      {.name = "swift-figure-2a",
       .item = "Figure 2(a): a uniform set, drafts as a tree beside a chain",
       .settings = {vanilla(),
                    {"top 1", "mix:mask=skip-set," + uniform + ",stop=threshold,threshold=0.8,gamma=25"},
                    {"top k",
                     "mix:mask=skip-set," + uniform + ",stop=threshold,threshold=0.8,shape=tree,gamma=25"}},
       .figures = {"accepted_length", "acceptance_rate", "speedup"},
       .differs = "a third of the attentions and MLPs is skipped"},
      {.name = "swift-figure-2b",
       .item = "Figure 2(b): the set found for each task on each task",
       .searches = {skip_set_search(true)},
       .settings = {vanilla(), {"set of", "draft-verify:skip-set={sets}"}},
       .figures = {"accepted_length", "speedup"},
       .differs = shorter_search()},
      {.name = "swift-figure-6",
       .item = "Figure 6, left: matchness along the stream",
       .printer = Printer::decisions,
       .settings = {vanilla(), {"SWIFT", "swift"}}},
      {.name = "swift-figure-6-time",
       .item = "Figure 6, right: time by part of the work",
       .printer = Printer::phases,
       .settings = {vanilla(), {"SWIFT", "swift"}}},
      {.name = "swift-figure-7",
       .item = "Figure 7: a stream of tasks, one set for all beside the set of a search that goes on",
       .searches = {skip_set_search(true)},
       .settings = {vanilla(), {"Self-SD, set of", "draft-verify:skip-set={sets}"}, {"SWIFT", "swift"}},
       .figures = {"acceptance_rate", "speedup"},
       .differs = shorter_search() + "; tasks follow one another as in --prompts"},
      {.name = "swift-figure-8a",
       .item = "Figure 8(a): most candidates S and Bayesian interval beta",
       .settings = {vanilla(),
                    {"S 100, beta 25", "swift:max-score=1,max-iterations=100"},
                    {"S 100, beta 5", "swift:gp-interval=5,max-score=1,max-iterations=100"},
                    {"S 10, beta 25", "swift:max-score=1,max-iterations=10"},
                    {"S 10, beta 5", "swift:gp-interval=5,max-score=1,max-iterations=10"}},
       .figures = {"accepted_length", "acceptance_rate", "speedup"},
       .differs = "a search ends after S candidates alone, which are few, since a demo's stream is short"},
      {.name = "swift-figure-8",
       .item = "Figure 8(b): the share r of skipped sublayers",
       .printer = Printer::curve,
       .settings = {vanilla(), {"r 0.45", "swift:ratio=0.45", "", true}, {"SWIFT", "swift"}},
       .axis = {"ratio", {"0.3", "0.35", "0.4", "0.45", "0.5", "0.55"}},
       .figures = {"accepted_length", "acceptance_rate", "speedup"},
       .differs = "one model in place of several sizes"}};
}

Rows clasp_rows() {
  const auto table = [&](std::string name, std::string item, std::vector<std::string> decoding) {
    return ExperimentRow{.name = std::move(name),
                         .item = std::move(item),
                         .searches = {skip_set_search()},
                         .settings = {vanilla("Autoregressive"),
                                      {"Self-SD", "draft-verify:skip-set={sets}", "Self-SD"},
                                      {"SWIFT", "swift", "SWIFT"},
                                      {"CLaSp", "clasp", "CLaSp"}},
                         .figures = {"accepted_length", "speedup"},
                         .decoding = std::move(decoding),
                         .sources = {"CLaSp Table 1"},
                         .differs = shorter_search()};
  };
  const auto curve = [&](std::string name, std::string item, AxisRow axis, std::string learnt) {
    return ExperimentRow{
        .name = std::move(name),
        .item = std::move(item),
        .printer = Printer::curve,
        .settings = {vanilla(), {"default", std::move(learnt), "", true}, {"CLaSp", "clasp"}},
        .axis = std::move(axis),
        .figures = {"accepted_length", "speedup"}};
  };
  ExperimentRow interval = curve("clasp-figure-4b", "Figure 4(b): tokens from one search to the next",
                                 {"interval", {"8", "16", "32", "64", "128"}}, "clasp:interval=128");
  interval.differs = "the interval counts tokens, the paper's counts verifications (unit=verifications)";
  return {table("clasp-table-1", "Table 1, T = 0: Self-SD, SWIFT and CLaSp by task", {}),
          table("clasp-table-1-sampled", "Table 1, T = 1: the same, sampled", {"--temperature", "1"}),
          {.name = "clasp-figure-3a",
           .item = "Figure 3(a): how alike the sets of near tokens are",
           .printer = Printer::decisions,
           .settings = {vanilla(), {"CLaSp", "clasp:interval=1,unit=verifications"}}},
          {.name = "clasp-figure-3c",
           .item = "Figure 3(c): time by part of the work",
           .printer = Printer::phases,
           .settings = {vanilla(), {"CLaSp", "clasp"}}},
          curve("clasp-figure-4a", "Figure 4(a): number of skipped layers",
                {"skip", {"{L/6}", "{L/4}", "{L/3}", "{L/2}"}}, "clasp:skip={L/2}"),
          interval,
          {.name = "clasp-figure-5",
           .item = "Figure 5: speedup by size of the model",
           .settings = {vanilla(), {"CLaSp", "clasp", "CLaSp"}},
           .figures = {"accepted_length", "speedup"},
           .sources = {"CLaSp sec 5.2 text"},
           .differs = "one model a call, that of --model"},
          curve("clasp-figure-4c", "Figure 4(c): draft-exit threshold",
                {"threshold", {"0.5", "0.6", "0.7", "0.8", "0.9"}}, "clasp:threshold=0.7")};
}

/// LayerSkip over a grid of exits and lengths. One setting is learnt from: with shadow tokens it tells the
/// rounds of all others.
std::vector<SettingRow> grid_settings() {
  std::vector<SettingRow> settings{vanilla(), {"L/4, 6", "layerskip:exit={L/4},gamma=6", "", true}};
  for (const char* exit : {"L/6", "L/4", "L/3", "L/2"})
    for (const char* gamma : {"2", "4", "6", "10"})
      settings.push_back(
          {std::string(exit) + ", " + gamma, "layerskip:exit={" + std::string(exit) + "},gamma=" + gamma});
  return settings;
}

Rows del_rows() {
  const std::string tuned = "exit={grid.exit},gamma={grid.gamma}";
  const auto methods = [&](bool is_learnt) {
    return std::vector<SettingRow>{vanilla("Vanilla"),
                                   {"LS(E-g)", "layerskip:" + tuned, "LS(*", is_learnt},
                                   {"FS(E-g)", "fs:" + tuned, "FS(*"},
                                   {"DV(E)", "dv:exit={grid.exit}", "DV(*"},
                                   {"DEL", "del", "DEL"}};
  };
  const std::string smaller =
      "one grid on 10 prompts sets E and gamma of the baselines, thinned out as it goes";
  return {{.name = "del-table-1",
           .item = "Tables 1 and 3: static and dynamic exits by task",
           .searches = {grid_search()},
           .settings = methods(true),
           .figures = {"etpl", "tokens_per_second", "speedup"},
           .sources = {"DEL Table 1", "DEL Table 3"},
           .differs = smaller},
          {.name = "del-table-2-sampled",
           .item = "Table 2, pass@10: the same, sampled",
           .searches = {grid_search()},
           .settings = methods(false),
           .figures = {"etpl", "speedup"},
           .decoding = {"--temperature", "0.6", "--top-p", "0.95"},
           .sources = {"DEL Table 2"},
           .differs = smaller + "; ROUGE-2 is not judged"},
          {.name = "del-table-4",
           .item = "Table 4: DEL beside SWIFT",
           .searches = {grid_search()},
           .settings = {vanilla("Vanilla"),
                        {"LS(E-g)", "layerskip:" + tuned, "LS(*"},
                        {"SWIFT", "swift", "SWIFT"},
                        {"DEL", "del", "DEL"}},
           .figures = {"speedup"},
           .sources = {"DEL Table 4"},
           .differs = smaller},
          {.name = "del-table-6",
           .item = "Table 6: the decay of DEL's statistics",
           .printer = Printer::curve,
           .settings = {vanilla("Vanilla"), {"0.95", "del:omega=0.95", "", true}, {"DEL", "del", "DEL"}},
           .axis = {"omega", {"0.5", "0.6", "0.7", "0.8", "0.9", "0.95", "1.0"}, "omega="},
           .figures = {"etpl", "tokens_per_second", "speedup"},
           .sources = {"DEL Table 6"}},
          {.name = "del-figure-1a",
           .item = "Figure 1(a): exit and length tuned for each task on each task",
           .searches = {grid_search(true)},
           .settings = {vanilla(),
                        {"LS(L/4-6)", "layerskip", "", true},
                        {"LS tuned on", "layerskip:" + tuned, "LS (*"}},
           .figures = {"etpl", "speedup"},
           .sources = {"DEL sec 3 text"},
           .differs = smaller},
          {.name = "del-figure-1b",
           .item = "Figure 1(b): speed by exit and length, of two prompts by stretches of 64 tokens",
           .printer = Printer::heat_maps,
           .settings = grid_settings(),
           .differs = "16 settings; three stretches of a prompt take -n 192"},
          {.name = "del-figure-3a",
           .item = "Figure 3(a): DEL without one of its parts",
           .settings = {vanilla(),
                        {"LS(L/4-6)", "layerskip", "", true},
                        {"DEL", "del"},
                        {"DEL-gamma: one exit", "mix:mask=exit,stop=del,length=del,verify=above-exit"},
                        {"DEL-E: no draft exit", "mix:mask=del,length=del,stop=none,verify=above-exit"},
                        {"DEL-E-lim: exits from L/6 on", "del:exits={L/6}-{L-1}"}},
           .figures = {"etpl", "acceptance_rate", "speedup"},
           .differs = "DEL-E-lim leaves out the first sixth of the layers, the paper 3 of 32"},
          {.name = "del-figure-3b",
           .item = "Figure 3(b): time by part of the work and draft length",
           .printer = Printer::phases,
           .settings = {vanilla(),
                        {"LS, 2 tokens", "layerskip:gamma=2"},
                        {"LS, 4 tokens", "layerskip:gamma=4"},
                        {"LS, 6 tokens", "layerskip:gamma=6"},
                        {"LS, 12 tokens", "layerskip:gamma=12"},
                        {"DEL", "del"}},
           .differs = "the exit is L/4 in place of layer 8"},
          {.name = "del-figure-4",
           .item = "Figure 4: threshold, exit and acceptance over rounds",
           .printer = Printer::decisions,
           .settings = {vanilla(), {"DEL", "del"}}}};
}

/// Tables in kind of publications whose figures published.csv does not have.
Rows other_rows() {
  const auto table = [](std::string name, std::string document, std::string item, std::string model,
                        std::vector<SettingRow> settings) {
    settings.insert(settings.begin(), vanilla());
    return ExperimentRow{.name = std::move(name),
                         .document = std::move(document),
                         .item = std::move(item),
                         .model = std::move(model),
                         .settings = std::move(settings),
                         .figures = {"accepted_length", "tokens_per_second", "speedup"}};
  };
  return {table("knapspec-table", "KnapSpec", "Sets of sublayers that are chosen while decoding, by task",
                demo_plain, {{"SWIFT", "swift"}, {"CLaSp", "clasp"}, {"KnapSpec", "knapspec"}}),
          table("conflayers-table", "ConfLayers", "ConfLayers beside SWIFT by task", demo_plain,
                {{"SWIFT", "swift"}, {"ConfLayers", "conflayers"}}),
          table("suffix-decoding-table", "SuffixDecoding", "Guesses from the texts, by task", demo_plain,
                {{"prompt lookup", "prompt-lookup", "", true},
                 {"SuffixDecoding, chain", "suffix-decoding"},
                 {"SuffixDecoding, tree", "suffix-decoding:shape=tree"},
                 {"SuffixDecoding, one request", "suffix-decoding:across=no"}}),
          table("token-recycling-table", "Token Recycling",
                "Trees of likely successors beside other guesses, by task", demo_plain,
                {{"Lookahead", "lookahead"},
                 {"prompt lookup", "prompt-lookup"},
                 {"Token Recycling", "token-recycling"}})};
}

/// The rows with the name of their publication, its way of counting and a model that ships.
Rows of_publication(const std::string& document, Convention convention, const std::string& model, Rows rows) {
  for (ExperimentRow& row : rows) {
    row.document = document;
    row.convention = convention;
    row.model = model;
  }
  return rows;
}

}  // namespace

std::span<const ExperimentRow> experiments() {
  static const Rows rows = [] {
    Rows all;
    for (const Rows& some :
         {of_publication("HF LayerSkip blog", Convention::layerskip, demo_layerskip, layerskip_rows()),
          of_publication("Draft&Verify", Convention::draft_verify, demo_plain, draft_verify_rows()),
          of_publication("SWIFT", Convention::swift, demo_plain, swift_rows()),
          of_publication("CLaSp", Convention::clasp, demo_plain, clasp_rows()),
          of_publication("DEL", Convention::del, demo_layerskip, del_rows()), other_rows()})
      all.insert(all.end(), some.begin(), some.end());
    return all;
  }();
  return rows;
}

}  // namespace draftscope::cli
