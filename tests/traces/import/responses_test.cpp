// SPDX-License-Identifier: GPL-3.0-or-later
// Reports of engines about requests. llama_answers/ comes from the real program (the same run as
// llama_cpp/server_trace.log); the others were written with the fields that the engines document.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "imported.h"

namespace draftscope::traces {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

TEST(SglangImport, SumsCountsUnderAllTheNamesThatTheyHad) {
  const Imported answers = import_fixture("sglang/documented.jsonl");
  EXPECT_THAT(answers.summary.formats, ElementsAre("sglang"));
  expect_stated(answers, {{"verify_steps", 43 + 10 + 4 + 2},
                          {"drafted_tokens", 215 + 30 + 12 + 6},
                          {"accepted_tokens", 63 + 10 + 4 + 4},
                          {"accepted_histogram", {15, 17, 13, 5, 0, 3}}});
  ASSERT_THAT(answers.recording.rounds, SizeIs(2)) << "an order is in the last answer alone";
  EXPECT_EQ(answers.recording.rounds[0].drafted, 3);
  EXPECT_EQ(answers.recording.rounds[0].accepted, 3);
  EXPECT_EQ(answers.recording.rounds[1].accepted, 1);
  EXPECT_THAT(answers.summary.missing, Contains(MissingData::rounds));
  EXPECT_EQ(answers.recording.requests[0].end_ns, 1'500'000'000);
  EXPECT_EQ(answers.recording.requests[1].start_ns, 1'500'000'000);
}

TEST(TrtllmImport, HasRoundsWithDraftTimesWhereOneRequestRuns) {
  const Imported log = import_fixture("trtllm/documented.jsonl");
  ASSERT_THAT(log.recording.requests, SizeIs(2)) << "a gap of the iterations ends the first";
  ASSERT_THAT(log.recording.rounds, SizeIs(3));
  EXPECT_EQ(log.recording.requests[0].first_token_ns, 20'000'000) << "the context's iteration";
  EXPECT_EQ(log.recording.rounds[0].start_ns, 20'000'000);
  EXPECT_EQ(log.recording.rounds[0].draft_ns, 2'100'000);
  EXPECT_EQ(log.recording.rounds[0].verify_ns, 7'300'000);
  EXPECT_EQ(log.recording.rounds[0].accepted, 3);
  EXPECT_EQ(log.recording.rounds[2].drafted, 0);
  EXPECT_EQ(stated_figures(log)["iterations_of_several_requests"], 1);
  EXPECT_THAT(log.summary.missing, Not(Contains(MissingData::phase_times)));
}

TEST(TrtllmImport, HasRequestsOfOneTokenAndNoTimesOfDraftsWithinTheModel) {
  const Imported log = import_text(
      "log.jsonl",
      R"({"iter":10,"iterLatencyMS":20.0,"numCompletedRequests":1,"inflightBatchingStats":{"numContextRequests":1,"numGenRequests":0}}
{"iter":11,"iterLatencyMS":30.0,"numCompletedRequests":0,"inflightBatchingStats":{"numContextRequests":1,"numGenRequests":0}}
{"iter":12,"iterLatencyMS":9.0,"numCompletedRequests":1,"inflightBatchingStats":{"numContextRequests":0,"numGenRequests":1},"specDecodingStats":{"numDraftTokens":3,"numAcceptedTokens":2,"iterLatencyMS":0.0}}
{"iter":13,"iterLatencyMS":9.0,"numCompletedRequests":0,"inflightBatchingStats":{"numContextRequests":0,"numGenRequests":1},"specDecodingStats":{"numDraftTokens":3,"numAcceptedTokens":1,"iterLatencyMS":0.0}}
)");
  const std::vector<Request>& requests = log.recording.requests;
  ASSERT_THAT(requests, SizeIs(3));
  EXPECT_EQ(requests[0].tokens.size(), 1U);
  EXPECT_EQ(requests[0].end_ns, 20'000'000);
  EXPECT_EQ(requests[1].first_token_ns - requests[1].start_ns, 30'000'000);
  EXPECT_THAT(log.summary.missing, Contains(MissingData::phase_times));
}

TEST(TrtllmImport, TakesTheRowsOfRank0OfAttentionDataParallelism) {
  const Imported log = import_fixture("trtllm/attention_dp.jsonl");
  ASSERT_THAT(log.recording.requests, SizeIs(1));
  ASSERT_THAT(log.recording.rounds, SizeIs(2)) << "drafts of rank 0 are in the rows of every rank";
  EXPECT_EQ(log.recording.rounds[0].accepted, 2);
  EXPECT_EQ(log.recording.rounds[1].accepted, 1);
  EXPECT_EQ(log.recording.requests[0].first_token_ns, 20'000'000);
  EXPECT_EQ(stated_figures(log)["rows_of_other_ranks"], 3);
  EXPECT_THAT(log.summary.remarks, Contains(HasSubstr("passed over 3 rows of other ranks")));
}

TEST(AiperfImport, TakesGapsForRoundTimesWhereThereAreAsMany) {
  const Imported log = import_fixture("aiperf/documented.jsonl");
  ASSERT_THAT(log.recording.requests, SizeIs(3));
  ASSERT_THAT(log.recording.rounds, SizeIs(5));
  const Request& first = log.recording.requests[0];
  EXPECT_EQ(first.start_ns, 1'790'000'000'000'000'000);
  EXPECT_EQ(log.recording.rounds[0].start_ns, first.start_ns + 41'500'000);
  EXPECT_EQ(log.recording.rounds[1].end_ns, first.start_ns + 77'500'000);
  EXPECT_EQ(log.recording.rounds[2].end_ns, log.recording.rounds[2].start_ns) << "one gap, three rounds";
  EXPECT_THAT(log.summary.missing, Contains(MissingData::round_times));
  EXPECT_EQ(log.recording.requests[1].stop, RequestStop::cancelled);
  EXPECT_EQ(log.recording.requests[2].stop, RequestStop::error);
  EXPECT_EQ(stated_figures(log)["accepted_histogram"], (std::vector<int>{2, 1, 2}));
}

TEST(AiperfImport, TakesWhatTheProgramWrote) {
  const Imported log = import_fixture("aiperf/aiperf_0.13.jsonl");
  ASSERT_THAT(log.recording.requests, SizeIs(4));
  ASSERT_THAT(log.recording.rounds, SizeIs(32));
  EXPECT_THAT(log.summary.missing, Not(Contains(MissingData::round_times))) << "as many gaps as rounds";
  for (const Request& request : log.recording.requests) {
    std::int32_t emitted = 1;  // the prefill's token
    for (const Round& round : log.recording.rounds)
      if (round.request_id == request.id) emitted += round.emitted;
    EXPECT_EQ(emitted, 20) << "the server's count, not the client's";
  }
}

TEST(LlamaAnswersImport, AgreeWithTheLogOfTheSameRun) {
  const Imported answers = import_fixture("llama_answers/server_trace.jsonl");
  const Imported log = import_fixture("llama_cpp/server_trace.log");
  std::int64_t drafted = 0, accepted = 0;
  for (const Round& round : log.recording.rounds) {
    drafted += round.drafted;
    accepted += round.accepted;
  }
  expect_stated(answers, {{"drafted_tokens", drafted}, {"accepted_tokens", accepted}});
  ASSERT_THAT(answers.recording.requests, SizeIs(3));
  EXPECT_EQ(answers.recording.requests[0].tokens.size(), log.recording.requests[0].tokens.size());
  EXPECT_THAT(answers.recording.requests[0].text, HasSubstr("os.path.isfile"));
  const auto lengths = [](const Imported& imported) {
    std::multiset<std::size_t> found;
    for (const Prompt& prompt : imported.recording.prompts) found.insert(prompt.tokens.size());
    return found;
  };
  EXPECT_EQ(lengths(answers), lengths(log)) << "whatever of them the cache had";
}

// Three rounds of four tokens after the prefill's are more than an answer of ten has.
TEST(LastRounds, AreCutToTheAnswerInEveryFormat) {
  for (
      const char* const line :
      {R"({"choices":[{"text":"x"}],"usage":{"prompt_tokens":4000,"completion_tokens":10},"metrics":{"speculative_decoding":{"num_spec_steps":3,"num_accepted_draft_tokens":9,"num_draft_tokens":9,"per_step_accepted":[3,3,3],"per_step_drafted":[3,3,3]}}})",
       R"({"metadata":{"request_start_ns":1,"request_end_ns":130000001,"was_cancelled":false},"metrics":{"output_sequence_length":{"value":10,"unit":"tokens"}},"spec_decode_acceptance":{"completion_tokens":10,"num_spec_steps":3,"num_accepted_draft_tokens":9,"num_draft_tokens":9,"per_step_accepted":[3,3,3],"per_step_drafted":[3,3,3]},"error":null})"}) {
    const Imported log = import_text("answers.jsonl", line);
    ASSERT_THAT(log.recording.rounds, SizeIs(3)) << line;
    EXPECT_EQ(log.recording.rounds[0].emitted, 4);
    EXPECT_EQ(log.recording.rounds[2].emitted, 1);
  }
}

TEST(AcceptanceImport, BeginsContextsAfterThePrompt) {
  const Imported log = import_text(
      "answers.jsonl",
      R"({"usage":{"prompt_tokens":4000,"completion_tokens":3},"metrics":{"speculative_decoding":{"num_spec_steps":1,"per_step_accepted":[1],"per_step_drafted":[3]}}})");
  ASSERT_THAT(log.recording.prompts, SizeIs(1));
  EXPECT_EQ(log.recording.prompts[0].tokens.size(), 4000U);
}

TEST(AcceptanceImport, TakesResponsesWhoseMetricsAreNull) {
  const Imported answers = import_text(
      "answers.jsonl",
      R"({"usage":{"completion_tokens":3},"metrics":{"speculative_decoding":{"num_spec_steps":1,"per_step_accepted":[1],"per_step_drafted":[3]}}}
{"usage":{"completion_tokens":5},"metrics":{"speculative_decoding":null}}
{"usage":{"completion_tokens":7},"metrics":null}
)");
  ASSERT_THAT(answers.recording.requests, SizeIs(3));
  EXPECT_THAT(answers.recording.rounds, SizeIs(1));
  EXPECT_EQ(answers.recording.requests[2].tokens.size(), 7U);
  EXPECT_THAT(answers.summary.remarks, Contains(HasSubstr("2 of 3 requests say nothing of drafts")));
}

TEST(LmStudioImport, TakesTheCountsThatAreThere) {
  const Imported answers = import_text(
      "answers.jsonl",
      R"({"stats":{"tokens_per_second":9.0,"total_draft_tokens_count":5,"accepted_draft_tokens_count":2},"usage":{"completion_tokens":3,"total_draft_tokens_count":null}})");
  expect_stated(answers, {{"drafted_tokens", 5}, {"accepted_tokens", 2}});
}

TEST(AcceptanceImport, ReadsVllmsOfflineOutputs) {
  const Imported outputs = import_text(
      "offline.jsonl",
      R"({"spec_decode_metrics":{"num_spec_steps":2,"per_step_accepted":[0,3],"per_step_drafted":[3,3]},"text":"a"})");
  ASSERT_THAT(outputs.recording.rounds, SizeIs(2));
  EXPECT_EQ(outputs.recording.rounds[1].accepted, 3);
}

}  // namespace
}  // namespace draftscope::traces
