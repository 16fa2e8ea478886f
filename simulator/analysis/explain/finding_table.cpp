// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/explain.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/explain/evidence.h"

namespace draftscope::simulator {

namespace {

using traces::MissingData;

std::vector<FindingRow> rows_of_drafts() {
  return {
      {.key = "slow_baseline",
       .title = "a slow baseline",
       .figure =
           "median time of the recording's cheapest verification over two rows or more / of the one row "
           "of a vanilla step",
       .threshold =
           "below 0.97, the upper quartile of the one below the lower quartile of the other. On a device "
           "that launches a draft by layers with its verification, the idle time of the device in a vanilla "
           "round (60 us without a device trace) is subtracted first",
       .because = "a pass over several rows does all that a pass over one row does: it takes less only where "
                  "the engine's pass over one row is slow, or was slowed while vanilla ran",
       .sentence = "The baseline's own pass is slower than one of {rows} rows (v = {ratio}): it takes "
                   "{step}{launched}, "
                   "that one {pass}{run}, so that speedups stand over a slow baseline.",
       .look = "v in draftscope report; view Breakdown, verify of vanilla beside that of the run",
       .remedies = {{.words =
                         "mend the engine's pass over one row before any other setting; until then take no "
                         "speedup from this recording"}},
       .no_simulation = "costs that were learnt from this recording have the same fault",
       .needs = {MissingData::rounds, MissingData::phase_times},
       .covered_by = {},
       .judge = judge_slow_baseline,
       .is_about_unit = true},
      {.key = "slow_baseline_mean",
       .title = "a baseline that is slow on average",
       .figure = "mean time of the run's rounds / of a vanilla step",
       .threshold = "below 0.97, so that the speedup is above the tokens that a round yields",
       .because =
           "no draft gives more than the tokens that a round yields: a round shorter than a step means "
           "that steps were slow",
       .sentence =
           "On average a vanilla step takes {step}{launched}, a verification of {rows} rows {pass} (v "
           "= {ratio}), so that speedups stand over a slow baseline.",
       .look = "v in draftscope report; view Rounds, vanilla's sorted by round time",
       .remedies = {{.words = "mend the engine's pass over one row before any other setting; until then take "
                              "no speedup from this recording",
                     .runs = "baselines that are slow without interruptions, too",
                     .can_take = is_slow_by_itself},
                    {.words =
                         "record again on a quiet machine; until then take no speedup from this recording",
                     .runs = "baselines that interruptions slowed",
                     .can_take = is_slowed_by_interruptions}},
       .no_simulation = "costs that were learnt from this recording have the same fault",
       .needs = {MissingData::rounds, MissingData::accepted_lengths, MissingData::phase_times},
       .covered_by = {"slow_baseline"},
       .judge = judge_slow_baseline_mean,
       .is_about_unit = true},
      {.key = "draft_step_dear",
       .title = "a draft step as dear as a vanilla step",
       .figure = "vanilla steps of a draft step",
       .threshold =
           "at least 0.9, and the passes of a round take longer than its tokens are worth, by 3 % of "
           "the round's time",
       .because = "a draft step brings one token at most, and its row of the verification costs too. Only "
                  "drafts that are right in nine tokens of ten could pay, and none from one step on",
       .sentence = "A draft step takes {step} and brings one token at most: if every draft token were kept, "
                   "the speedup would be {all}.",
       .look = "c in draftscope report; view Breakdown, draft beside verify of vanilla",
       .remedies = {{.words = "a draft of fewer layers; in fewer bits, kernels that gain from them"},
                    {.words = "vanilla decoding"}},
       .no_simulation = {},
       .needs = {MissingData::rounds, MissingData::accepted_lengths, MissingData::draft_lengths,
                 MissingData::phase_times},
       .covered_by = {},
       .judge = judge_draft_step_dear},
      {.key = "nothing_drafted",
       .title = "hardly a draft",
       .figure = "share of rounds without a draft token",
       .threshold = "at least 90 %",
       .because = "the strategy then decodes as vanilla does and pays for deciding so",
       .sentence = "It drafted nothing in {without} of {rounds} ({share}).",
       .look = "draft lengths in draftscope report; view Rounds, column drafted",
       .remedies =
           {{.words = "a setting that does not decide by itself (layerskip, or what draftscope tune finds)",
             .runs = "runs of this engine",
             .can_take = is_own_run},
            {.words = "vanilla decoding"}},
       .no_simulation = {},
       .needs = {MissingData::rounds, MissingData::accepted_lengths, MissingData::draft_lengths,
                 MissingData::plain_steps},
       .covered_by = {},
       .judge = judge_nothing_drafted},
      {.key = "nothing_accepted",
       .title = "no draft accepted",
       .figure =
           "accepted tokens / draft steps; where draft lengths are not known, accepted tokens per round",
       .threshold = "at most 1 %",
       .because = "even an exit that was never trained for it has one or two tokens in a hundred right; with "
                  "fewer, draft and target do not belong together",
       .sentence = "In {rounds} {accepted} accepted.",
       .look = "acceptance by draft position in draftscope report; view Text replay",
       .remedies =
           {{.words = "check that the draft belongs to the target: the same tokenizer, the right checkpoint, "
                      "exit or method name; if it does, another draft"}},
       .no_simulation = {},
       .needs = {MissingData::rounds, MissingData::accepted_lengths},
       .covered_by = {},
       .judge = judge_nothing_accepted},
      {.key = "draft_too_long",
       .title = "drafts too long",
       .figure = "acceptance of the draft positions after the last one that pays",
       .threshold =
           "below the price of a position: a draft step and its row of the verification, in what an accepted "
           "token is worth; together at least 3 % of the round's time",
       .because = "a position that costs more than it brings makes the round slower, however cheap it is",
       .sentence = "Drafts go on past position {position}, where acceptance has fallen: of the draft tokens "
                   "after it {rate} are accepted, and drafting one pays from {even} on.",
       .look = "acceptance by draft position in draftscope report; view Confidence",
       .remedies = {{.words = "shorter drafts"},
                    {.words = "a stop by confidence (mix:stop=threshold)",
                     .runs = "drafts of layers that nothing stops",
                     .can_take = can_stop_by_confidence}},
       .no_simulation = {},
       .needs = {MissingData::rounds, MissingData::accepted_lengths, MissingData::draft_lengths},
       .covered_by = {"nothing_accepted", "draft_step_dear"},
       .judge = judge_draft_too_long},
      {.key = "tail_rejected",
       .title = "far positions rejected",
       .figure = "acceptance of the draft positions after the last one with 10 %, where no times are known",
       .threshold = "below 10 %, and at least 20 % of all positions",
       .because = "a draft step and its row seldom cost less than a tenth of a vanilla step, so that such a "
                  "position "
                  "hardly ever pays",
       .sentence = "Drafts go on past position {position}, where acceptance has fallen: {share} of the "
                   "draft tokens come after it, and {rate} of those are accepted.",
       .look = "acceptance by draft position in draftscope report",
       .remedies = {{.words = "shorter drafts"},
                    {.words = "a stop by confidence",
                     .runs = "drafts of a model that nothing stops",
                     .can_take = can_stop_by_confidence}},
       .no_simulation = {},
       .needs = {MissingData::rounds, MissingData::accepted_lengths, MissingData::draft_lengths},
       .covered_by = {"nothing_accepted"},
       .judge = judge_tail_rejected},
      {.key = "too_few_accepted",
       .title = "too few accepted",
       .figure = "accepted tokens per round, as far as they reached the output",
       .threshold = "below what drafting and verifying cost beyond a vanilla step, by at least 3 % of the "
                    "round's time",
       .because = "then a vanilla step per token is faster",
       .sentence =
           "Too few draft tokens are kept for what drafting and verifying take: {kept} per round, where "
           "{needed} would break even.",
       .look = "M beside c and v in draftscope report; simulate --ladder",
       .remedies = {{.words = "a better draft, a cheaper one, or vanilla decoding"},
                    {.words = "draftscope tune, which searches a better one",
                     .runs = "drafts of layers",
                     .can_take = can_be_tuned},
                    {.words = "draftscope advise, which compares",
                     .runs = "runs of this engine",
                     .can_take = is_own_run}},
       .no_simulation = {},
       .needs = {MissingData::rounds, MissingData::accepted_lengths, MissingData::wall_times},
       .covered_by = {"nothing_drafted", "nothing_accepted", "draft_step_dear", "text_does_not_repeat",
                      "batch_too_large"},
       .judge = judge_too_few_accepted},
      {.key = "text_does_not_repeat",
       .title = "text that does not repeat",
       .figure = "share of rounds that keep a guess, of strategies that guess from earlier text",
       .threshold = "below 25 %, unless the run is faster than vanilla",
       .because =
           "a guess costs its rows in every round and brings something only where the text repeats; with "
           "fewer than one round in four the rows are seldom paid",
       .sentence = "The text hardly repeats: {share} of {rounds} kept a guess.",
       .look = "view Text replay; draftscope report --by category",
       .remedies =
           {{.words =
                 "guesses from text only for prompts that repeat (code, editing, summaries); otherwise a "
                 "draft of the model"}},
       .no_simulation = {},
       .needs = {MissingData::rounds, MissingData::accepted_lengths},
       .covered_by = {},
       .judge = judge_text_does_not_repeat},
  };
}

std::vector<FindingRow> rows_of_times() {
  return {
      {.key = "deciding_dear",
       .title = "deciding costs more than it brings",
       .figure = "vanilla steps per round in the phases optimise and control",
       .threshold = "at least 0.05, and more than drafting saves before that is paid",
       .because = "a strategy that searches while it decodes has to earn its search",
       .sentence =
           "Deciding what to draft takes {decide} per round, and drafting saves {saved} before that is paid.",
       .look = "phases optimise and control in draftscope report; view Breakdown",
       .remedies =
           {{.words =
                 "the setting that it found, as a fixed one (draftscope tune writes it), or longer requests "
                 "that spread a search",
             .runs = "runs that search",
             .can_take = searches},
            {.words = "a strategy that decides less"}},
       .no_simulation = {},
       .needs = {MissingData::rounds, MissingData::accepted_lengths},
       .covered_by = {},
       .judge = judge_deciding_dear},
      {.key = "narrow_pass_slow",
       .title = "verification slower than a wider one",
       .figure =
           "median time of the run's verifications over so many rows / of a faster verification of this "
           "recording over more, of as many layers or more",
       .threshold = "above 1, quartiles apart; together at least 3 % of the round's time",
       .because =
           "a pass over more rows does all that a pass over fewer does, so that it is not the rows that "
           "cost",
       .sentence =
           "Verification is slower than a wider one: {rows} rows take {pass}, {wide} rows {less}{run}.",
       .look = "rows and verify of both runs in view Rounds; columns planned and drafted",
       .remedies =
           {{.words =
                 "of an engine: a pass over the rows that are verified, not over those that were planned"}},
       .no_simulation = "costs that were learnt from this recording have the same fault",
       .needs = {MissingData::rounds, MissingData::phase_times},
       .covered_by = {},
       .judge = judge_narrow_pass_slow},
      {.key = "verification_dear",
       .title = "verification dear",
       .figure = "vanilla steps that each row of a verification beyond the first costs",
       .threshold = "above 0.05, the excess at least 3 % of the round's time",
       .because = "where reading the weights decides, rows are nearly free: on our processor five rows of "
                  "the 1B shape take 1.15 steps, 0.04 each; above that, arithmetic decides, or a kernel that "
                  "reads the weights once per row",
       .sentence =
           "Verification takes {verify} for {rows} rows: a row beyond the first costs {row}, where at most "
           "{expected} is expected as long as memory is the limit.",
       .look = "v in draftscope report; simulate --ladder, rung width; view What if, roofline",
       .remedies = {{.words = "fewer rows (shorter drafts, narrower trees)",
                     .runs = "verifications of 2.5 rows or more",
                     .can_take = has_rows_to_spare},
                    {.words = "more threads", .runs = "processors", .can_take = has_threads},
                    {.words = "verify=above-exit",
                     .runs = "early exits that verify all layers",
                     .can_take = can_verify_above_exit},
                    {.words = "a kernel that is made for few rows"}},
       .no_simulation = {},
       .needs = {MissingData::rounds},
       .covered_by = {"narrow_pass_slow"},
       .judge = judge_verification_dear},
      {.key = "time_outside_passes",
       .title = "time outside of passes",
       .figure =
           "time per round that no pass, decision or acceptance covers, beyond that of a vanilla round; or "
           "that the device idles, if that is more. In vanilla steps (in its own verifications without a "
           "vanilla run)",
       .threshold = "at least 0.05",
       .because =
           "it is paid once a round whatever is drafted; what a vanilla round has of it is in the step",
       .sentence = "{outside} of each round lie outside of its passes, {beside_vanilla}. They lie {places}.",
       .look = "where the time went, and the device, in draftscope report; view Timeline, gaps",
       .remedies = {{.words = "longer rounds, which have it less often"},
                    {.words = "recording with --level phases or off",
                     .runs = "recordings of layers or operations",
                     .can_take = records_within_phases},
                    {.words = "of an engine, its scheduler and what it copies between rounds"}},
       .no_simulation = "the simulator prices passes, and what lies between them is no setting",
       .needs = {},
       .covered_by = {},
       .judge = judge_time_outside_passes},
      {.key = "device_below_reading",
       .title = "device below the rate of reading",
       .figure = "share of a verification's time on the device that reading weights and K/V alone would take",
       .threshold = "below 75 %, of recordings with --device-trace operations",
       .because = "a pass over a few rows is bound by the memory; what it takes beyond reading goes to "
                  "barriers, to blocks that wait for the last one, or to arithmetic",
       .sentence = "The device reads for {reading} of a verification's time: {before} go by before its "
                   "operations begin, in {waiting} blocks wait for the last one, and {longest} takes most "
                   "({share}).",
       .look = "draftscope report --by operation; view Timeline, lanes of operations",
       .remedies =
           {{.words = "of an engine: fewer operations where the time before them leads, evener tiles where "
                      "waiting does; else a larger model, whose operations are longer"}},
       .no_simulation = "costs that were learnt from this recording have it in them",
       .needs = {},
       .covered_by = {},
       .judge = judge_device_below_reading},
      {.key = "machine_busy",
       .title = "busy machine",
       .figure =
           "share of the rounds' time beyond the median of their kind, in rounds of twice the median or more",
       .threshold = "at least 5 %",
       .because = "rounds of the same passes take the same time but for the context; twice as long is an "
                  "interruption",
       .sentence = "The machine was busy: {share} of the time went to interruptions, in rounds that took at "
                   "least twice as long as others of the same passes.",
       .look = "view Rounds, sorted by round time; view Timeline",
       .remedies = {{.words = "record again on a quiet machine"},
                    {.words = "no more threads than idle cores",
                     .runs = "processors",
                     .can_take = has_threads}},
       .no_simulation = "a busy machine is no setting",
       .needs = {MissingData::rounds, MissingData::round_times},
       .covered_by = {},
       .judge = judge_machine_busy},
      {.key = "repeats_differ",
       .title = "repeats differ",
       .figure = "(greatest - least) / median of the speedups of the repeats",
       .threshold = "at least 10 %",
       .because = "on a quiet machine repeats differ by 1 to 3 %; where they differ by 10 %, the recording "
                  "can't compare settings that are closer",
       .sentence =
           "The machine was not steady: the repeats of this run give {low} to {high}, {spread} apart.",
       .look = "repeats in draftscope report",
       .remedies = {{.words = "record again on a quiet machine, with more --repeats"}},
       .no_simulation = "an unsteady machine is no setting",
       .needs = {MissingData::wall_times},
       .covered_by = {},
       .judge = judge_repeats_differ},
      {.key = "batch_too_large",
       .title = "batch beyond break-even",
       .figure = "requests that are under way at a time",
       .threshold = "at least 1.5, with a speedup below 0.97",
       .because = "the rows of a batch use the arithmetic that speculation lives on",
       .sentence = "{batch} requests run at a time, and speculation does not pay there: {speedup}.",
       .look = "view Timeline, lanes of requests",
       .remedies =
           {{.words = "speculate only below a batch size (most engines have a switch), or shorter drafts"}},
       .no_simulation = "costs that were learnt at this batch do not tell those of a smaller one; record one "
                        "request at a time and ask draftscope advise up to which batch it pays",
       .needs = {MissingData::runs, MissingData::rounds, MissingData::round_times, MissingData::wall_times},
       .covered_by = {},
       .judge = judge_batch_too_large},
      {.key = "nothing_found",
       .title = "nothing found",
       .figure = "the checks above",
       .threshold = "none found anything",
       .because = "each has a threshold below which what it finds is not worth a change",
       .sentence = "Nothing stands out: {made} of {checks} checks could be made on this recording, and none "
                   "found anything beyond its threshold.",
       .look = "draftscope simulate --waterfall, for what another setting could bring",
       .remedies = {{.words = "nothing; draftscope advise says whether another setting is faster"}},
       .no_simulation = "nothing was found",
       .needs = {},
       .covered_by = {},
       .judge = judge_nothing_found},
  };
}

}  // namespace

std::span<const FindingRow> finding_table() {
  static const std::vector<FindingRow> table = [] {
    std::vector<FindingRow> rows = rows_of_drafts();
    const std::vector<FindingRow> times = rows_of_times();
    rows.insert(rows.end(), times.begin(), times.end());
    return rows;
  }();
  return table;
}

std::string findings_markdown() {
  std::string text;
  for (const FindingRow& row : finding_table()) {
    text += fmt::format("### {} (`{}`)\n\n> {}\n\n", row.title, row.key, row.sentence);
    text += fmt::format("- looks at: {}\n- found if: {}\n- because: {}\n- look at: {}\n", row.figure,
                        row.threshold, row.because, row.look);
    for (const RemedyRow& remedy : row.remedies)
      text += fmt::format("- try{}: {}\n", remedy.runs.empty() ? "" : fmt::format(" (for {})", remedy.runs),
                          remedy.words);
    if (!row.no_simulation.empty()) text += fmt::format("- not simulated: {}\n", row.no_simulation);
    if (!row.covered_by.empty())
      text += fmt::format("- not said beside: {}\n", fmt::join(row.covered_by, ", "));
    text += '\n';
  }
  return text;
}

}  // namespace draftscope::simulator
