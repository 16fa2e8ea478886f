// SPDX-License-Identifier: GPL-3.0-or-later
// Refused inputs: the error is one line that names file and place, and no file is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "../../value_of.h"
#include "imported.h"

namespace draftscope::traces {
namespace {

using ::testing::HasSubstr;

struct Refusal {
  const char* format;
  std::string_view text;
  std::string_view words;  ///< Words of the message, after the file's name.
};

class Refused : public ::testing::TestWithParam<Refusal> {};

TEST_P(Refused, InOneLineThatLeavesNothing) {
  const ImportFolder folder;
  const auto file = folder.write("input", GetParam().text);
  ImportOptions options;
  options.format = GetParam().format;
  const auto imported = import_recordings({file}, options, folder / "out.dstrace");
  ASSERT_FALSE(imported);
  EXPECT_THAT(imported.error().message, HasSubstr(file.string()));
  EXPECT_THAT(imported.error().message, HasSubstr(std::string(GetParam().words)));
  EXPECT_EQ(imported.error().message.find('\n'), std::string::npos);
  EXPECT_EQ(folder.files(), 1U) << "the input alone";
}

constexpr const char* spec_bench = "spec-bench";
constexpr const char* acceptance = "acceptance";
constexpr const char* chrome = "chrome";
constexpr const char* rounds = "rounds";

/// A file of the neutral format whose line 3 is `line`.
#define ROUNDS(line)                                                         \
  "{\"record\":\"header\",\"format\":\"draftscope-rounds\",\"version\":1}\n" \
  "{\"record\":\"request\",\"request\":\"a\",\"run\":\"x\",\"start_ns\":100}\n" line

const Refusal of_rounds[] = {
    {rounds, R"({"record":"round"})", "line 1: record is 'round', expected the header first"},
    {rounds, R"({"record":"header","format":"x"})", "format is 'x', expected draftscope-rounds"},
    {rounds, R"({"record":"header","format":"draftscope-rounds","version":2})",
     "version is 2, expected at most 1; a newer draftscope reads it"},
    {rounds, R"({"record":"header","format":"draftscope-rounds","version":1,"modell":"x"})",
     "line 1: modell is 'x', expected a field of"},
    {rounds, ROUNDS(""), "request 'a' never ended"},
    {rounds, ROUNDS("{"), "line 3: is not JSON"},
    {rounds, ROUNDS(R"({"record":"ruond"})"), "line 3: record is 'ruond'"},
    {rounds, ROUNDS(R"({"record":"request","request":"a","run":"x"})"), "request 'a' began before"},
    {rounds, ROUNDS(R"({"record":"end","request":"b"})"), "request 'b' never began"},
    {rounds,
     ROUNDS(R"({"record":"end","request":"a"})"
            "\n"
            R"({"record":"end","request":"a"})"),
     "line 4: request 'a' has ended"},
    {rounds, ROUNDS(R"({"record":"round","request":"a"})"), "line 3: accepted is missing"},
    {rounds, ROUNDS(R"({"record":"round","request":"a","accepted":null})"), "line 3: accepted is missing"},
    {rounds, ROUNDS(R"({"record":"round","request":"a","accepted":3,"drafted":2})"),
     "line 3: accepted is 3, expected at most drafted (2)"},
    {rounds, ROUNDS(R"({"record":"round","request":"a","accepted":1,"drafted":2,"planned":1})"),
     "planned is 1, expected 2 to 512"},
    {rounds, ROUNDS(R"({"record":"round","request":"a","accepted":1,"emitted":3})"),
     "emitted is 3, expected 0 to 2"},
    {rounds, ROUNDS(R"({"record":"round","request":"a","accepted":0,"start_ns":99,"end_ns":200})"),
     "line 3: start_ns is 99, expected 100 to"},
    {rounds, ROUNDS(R"({"record":"round","request":"a","accepted":0,"start_ns":150})"),
     "end_ns is missing, expected both"},
    {rounds,
     ROUNDS(R"({"record":"round","request":"a","accepted":0,"start_ns":100,"end_ns":200,)"
            R"("draft_ns":60,"verify_ns":50})"),
     "verify_ns is 50, expected at most 40"},
    {rounds, ROUNDS(R"({"record":"round","request":"a","accepted":0,"drafted":2,"tokens":[1]})"),
     "tokens has 1 entries, expected one a draft token (2)"},
    {rounds, ROUNDS(R"({"record":"round","request":"a","accepted":0,"drafted":1,"confidences":[1.5]})"),
     "confidences[0] is 1.5, expected 0 to 1"},
    {rounds, ROUNDS(R"({"record":"round","request":"a","accepted":0,"drafted":1,"parents":[0]})"),
     "parents[0] is 0, expected -1 to -1"},
    {rounds, ROUNDS(R"({"record":"round","request":"a","accepted":1,"drafted":1,"taken":[false]})"),
     "taken has 0 accepted tokens, expected as many as accepted (1)"},
    {rounds, ROUNDS(R"({"record":"round","request":"a","accepted":2,"drafted":2,"parents":[-1,-1]})"),
     "line 3: token 1 is accepted and its parent is -1, expected 0, the accepted token before it"},
    {rounds,
     ROUNDS(
         R"({"record":"round","request":"a","accepted":1,"drafted":2,"taken":[false,true],"tested":[true,true]})"),
     "line 3: token 1 is accepted and its parent is 0, expected -1"},
    {rounds, ROUNDS(R"({"record":"end","request":"a","end_ns":99})"), "end_ns is 99, expected 100"},
    {rounds, ROUNDS(R"({"record":"end","request":"a","stop":"tired"})"), "stop is 'tired'"}};
INSTANTIATE_TEST_SUITE_P(Rounds, Refused, ::testing::ValuesIn(of_rounds));

const Refusal of_input[] = {
    {spec_bench, "", "is empty"},
    {spec_bench, "{\"question_id\":1,", "line 1: is not JSON"},
    {spec_bench, "[1]", "line 1: is array, expected a JSON object"},
    {spec_bench, "{\"question_id\":true}", "question_id is true, expected an integer"},
    {spec_bench, "{\"question_id\":-1}", "question_id is -1, expected an integer from 0"},
    {spec_bench, "{\"question_id\":1e999}", "number that is too large"},
    {spec_bench, "{\"question_id\":1,\"category\":\"\xff\"}", "line 1: is not JSON"},
    {spec_bench, "{\"question_id\":1}", "choices is missing"},
    {spec_bench,
     R"({"question_id":1,"choices":[{"turns":["a"],"new_tokens":[1]}]})"
     "\n"
     R"({"question_id":1,"choices":[{"turns":["a"],"new_tokens":[1]}]})",
     "line 2: question_id 1 is there twice, expected each question once"},
    {spec_bench,
     R"({"question_id":"a","choices":[{"turns":["a"],"new_tokens":[1]}]})"
     "\n"
     R"({"question_id":1,"choices":[{"turns":["a"],"new_tokens":[1]}]})",
     "line 2: question_id is 1, expected a text, as in answers before it"},
    {spec_bench, R"({"question_id":1,"choices":[{"turns":["a"],"new_tokens":[1,2]}]})",
     "new_tokens has 2 entries, expected one a turn (1)"},
    {spec_bench, R"({"question_id":1,"choices":[{"turns":["a"],"new_tokens":[1],"accept_lengths":[-3]}]})",
     "accept_lengths[0] is -3"},
    {spec_bench, R"({"question_id":1,"choices":[{"turns":["a"],"new_tokens":[99999999]}]})",
     "new_tokens[0] is 99999999"},
    {spec_bench, R"({"question_id":1,"choices":[{"turns":["a"],"new_tokens":[1],"wall_time":[-1]}]})",
     "wall_time[0] is -1, expected a duration"},
    {"swift", R"({"model_id":"x"})", "choices is missing"},
    {"layerskip", R"({"acceptance_rate":{"mean":0.5)", "object 1: ends early, expected a whole JSON object"},
    {"layerskip", R"({"a":1}{"acceptance_rate":3})", "acceptance_rate is 3, expected an object"},
    {"layerskip", "exit_layer,x\n1,2\n", "the column num_speculations is missing"},
    {acceptance, R"({"accepted":[3],"drafted":[2]})",
     "a round accepts 3 draft tokens, expected at most its draft length (2)"},
    {acceptance, R"({"accepted":[1],"drafted":[2,2]})", "draft lengths of 2 rounds"},
    {acceptance, R"({"acceptance":[[0,1]]})", "acceptance[0][1] is 1 after a 0"},
    {acceptance, R"({"id":1})", "has none of per_step_accepted"},
    {acceptance, R"({"metrics":{"speculative_decoding":null}})",
     "no request has metrics.speculative_decoding, expected"},
    {acceptance, R"({"metrics":{"speculative_decoding":3}})",
     "speculative_decoding is 3, expected an object"},
    {chrome, R"([{"ph":"X","ts":1,"dur":1,"name":"a")", "is not JSON at byte"},
    {chrome, R"({"traceEvents":[{"ph":"X","ts":1,"dur":1,"name":"a"},)", "--partial takes the rest"},
    {chrome, R"([{"ph":"X","ts":1,"dur":1},[]])", "event 2 is no object"},
    {chrome, R"({"a":1})", "has no traceEvents"},
    {chrome, "[3]", "event 1 is no object"},
    {chrome, R"([{"ph":"X","ts":-5,"dur":1}])", "has no event with a time"},
    {chrome, R"([{"ph":"X","ts":1,"dur":-1}])", "event 1: dur is -1, expected microseconds"},
    {chrome, R"([{"ph":"X","ts":"now","dur":1}])", "event 1: ts is now, expected microseconds"},
    {chrome, R"([{"ph":"X","ts":1e30,"dur":1}])", "event 1: ts is 1e30"},
    {chrome, R"([{"ph":"X","ts":1,"name":"a"}])", "event 1 (\"a\") has no dur"},
    {chrome, R"([{"ph":"E","pid":1,"tid":2,"ts":1}])", "event 1 ends what never began on thread 1/2"},
    {chrome, R"([{"ph":"B","ts":1,"name":"a"}])", "event 1 (\"a\") begins and never ends"},
    {chrome, R"([{"ph":"B","ts":1,"name":"a"},{"ph":"E","ts":2,"name":"b"}])", "expected the end of \"a\""},
    {chrome, R"([{"ph":"X","ts":1,"dur":1,"name":"round","args":{"accepted":9}}])",
     "planned is missing, expected an integer from 0 to 513"},
    {chrome, R"([{"ph":"X","ts":1,"dur":1,"name":"request","args":{"tokens":1.5}}])",
     "tokens is 1.5, expected an integer from 0"},
    {chrome, R"([{"ph":"X","ts":1,"dur":1,"name":"round"}])", "in no request of its thread"},
    {"nsys", "not a database", "file is not a database"}};
INSTANTIATE_TEST_SUITE_P(Input, Refused, ::testing::ValuesIn(of_input));

const Refusal of_responses[] = {
    {"sglang", R"({"a":1})", "line 1: has neither meta_info nor sglext"},
    {"sglang", R"({"meta_info":{"spec_num_proposed_drafts":3,"spec_num_correct_drafts":4}})",
     "4 draft tokens were accepted of 3"},
    {"sglang", R"({"meta_info":{"spec_verify_ct":"x"}})", "spec_verify_ct is 'x', expected an integer"},
    {"sglang", R"({"meta_info":{"spec_accept_histogram":[-1]}})", "spec_accept_histogram[0] is -1"},
    {"sglang", R"({"meta_info":{"spec_accept_histogram":{"999":1}}})",
     "spec_accept_histogram counts 999 accepted draft tokens, expected at most 512"},
    {"sglang", R"({"meta_info":{"speculative_decoding_stats":{"verify_lengths":[4],"accept_lengths":[6]}}})",
     "accepted is 5, expected at most drafted (3)"},
    {"trtllm", R"({"a":1})", "iter is missing"},
    {"trtllm", "{\"iter\":5,\"inflightBatchingStats\":{}}\n{\"iter\":5,\"inflightBatchingStats\":{}}",
     "line 2: iter is 5, expected more than"},
    {"trtllm", "{\"iter\":6,\"inflightBatchingStats\":{}}\n{\"iter\":5,\"inflightBatchingStats\":{}}",
     "line 2: iter is 5, expected more than"},
    {"trtllm", R"({"iter":1,"attentionDpRank":1,"inflightBatchingStats":{}})",
     "found no row with attentionDpRank 0"},
    {"trtllm", R"({"iter":1,"inflightBatchingStats":{"numGenRequests":1}})", "iterLatencyMS is missing"},
    {"trtllm",
     R"({"iter":1,"iterLatencyMS":1,"inflightBatchingStats":{"numGenRequests":1},)"
     R"("specDecodingStats":{"numDraftTokens":1,"numAcceptedTokens":2}})",
     "accepted is 2, expected at most drafted (1)"},
    {"aiperf", R"({"a":1})", "has no metadata"},
    {"aiperf", R"({"metadata":{"request_start_ns":5,"request_end_ns":4},"metrics":{}})",
     "request_end_ns is 4, expected at least request_start_ns (5)"},
    {"aiperf", R"({"metadata":{},"metrics":{"time_to_first_token":{"value":1,"unit":"s"}}})",
     "time_to_first_token has the unit"},
    {"aiperf", R"({"metadata":{},"metrics":{"inter_chunk_latency":{"value":[1],"unit":"s"}}})",
     "inter_chunk_latency has the unit \"s\", expected ms"},
    {"aiperf",
     R"({"metadata":{},"metrics":{},"spec_decode_acceptance":{"per_step_accepted":[1],"num_spec_steps":2}})",
     "num_spec_steps is 2, expected as many"},
    {"aiperf", R"({"metadata":{},"metrics":{},"spec_decode_acceptance":{"acceptance_histogram":{"x":1}}})",
     "acceptance_histogram has the key x"},
    {"sglang", R"({"meta_info":{"spec_verify_ct":3,"spec_accept_histogram":[9,9,9]}})",
     "counts 27 verifications, expected at most as many as there were (3)"},
    {"vllm-log", "SpecDecoding metrics: Mean acceptance length: 2.0, Accepted: 9 tokens, Drafted: 8",
     "Accepted is 9, expected at most Drafted (8)"},
    {"vllm-log", "INFO nothing", "has no line"},
    {"sglang-log", "Decode batch, #running-req: 1, accept len: 0.5", "expected 0 or from 1"},
    {"sglang-log", "Decode batch, #running-req: 1, accept len: -1", "accept len is -1, expected 0 to"},
    {"sglang-log", "Decode batch: none", "has no line"},
    {"prometheus", "vllm:x{a=\"1} 2", "line 1: is 'vllm:x"},
    {"prometheus", "other 1", "has none of the metrics"},
    {"prometheus", "vllm:spec_decode_num_drafts_total -1", "is -1, expected 0"},
    {"vllm-vcr", R"({"output_tokens":2,"ttft_ms":1,"itl_ms":[1],"itl_tokens":[3]})",
     "its steps give 3 tokens, expected at most output_tokens (2)"},
    {"vllm-vcr", R"({"output_tokens":2,"ttft_ms":1,"itl_ms":[1],"itl_tokens":[1,1]})",
     "itl_tokens has 2 entries"},
    {"serve-bench", R"({"a":1})", "has no completed"},
    {"serve-bench", R"({"completed":1,"output_throughput":1,"ttfts":[1,1],"output_lens":[3]})",
     "output_lens has 1 entries, expected as many as ttfts has (2)"},
    {"serve-bench",
     R"({"completed":1,"output_throughput":1,"spec_decode_per_position_acceptance_rates":[0.5,0.9]})",
     "the acceptance of position 1 is 0.900"},
    {"guidellm", R"({"benchmarks":[{"requests":{"successful":[]}}]})", "has no requests"},
    {"lm-studio", R"({"a":1})", "has no stats"},
    {"lm-studio", R"({"stats":{"totalDraftTokensCount":1,"acceptedDraftTokensCount":2}})",
     "2 draft tokens were accepted of 1"},
    {"llama-answers", R"({"a":1})", "has no timings"}};
INSTANTIATE_TEST_SUITE_P(Responses, Refused, ::testing::ValuesIn(of_responses));

TEST(Import, LeavesTheOldFileWhereANewOneIsRefused) {
  const ImportFolder folder;
  const auto old = folder.write("out.dstrace", "old");
  ImportOptions options;
  EXPECT_FALSE(import_recordings({fixture("chrome/pairs.json")}, options, old))
      << "replacing was not asked for";
  options.overwrite = true;
  EXPECT_FALSE(import_recordings({folder.write("bad.json", "[")}, options, old));
  EXPECT_EQ(test::bytes_of(old), "old");
  EXPECT_TRUE(import_recordings({fixture("chrome/pairs.json")}, options, old));
}

TEST(Import, StopsWhenTheCallerSaysSoAndLeavesNothing) {
  const ImportFolder folder;
  for (const char* const name : {"chrome/pairs.json", "swift/answers.jsonl", "layerskip/sweep.csv"}) {
    const auto imported = import_recordings({fixture(name)}, {}, folder / "out.dstrace",
                                            [](std::int64_t, std::int64_t) { return false; });
    ASSERT_FALSE(imported) << name;
    EXPECT_EQ(imported.error().message, "import cancelled");
    EXPECT_EQ(folder.files(), 0U);
  }
}

TEST(Import, KeepsTimelinesApartAndRunsDistinct) {
  const ImportFolder folder;
  EXPECT_FALSE(
      import_recordings({fixture("chrome/pairs.json"), fixture("swift/answers.jsonl")}, {}, folder / "a"));
  EXPECT_FALSE(
      import_recordings({fixture("swift/answers.jsonl"), fixture("swift/answers.jsonl")}, {}, folder / "b"));
  EXPECT_EQ(folder.files(), 0U);
}

TEST(Import, TellsTheFormatOfEverySeedFromItsBeginning) {
  const ImportFolder folder;
  std::set<std::string> seeded;
  for (const Seed& seed : seeds()) {
    const auto imported =
        value_of(import_recordings({fixture(seed.fixture)}, {.overwrite = true}, folder / "out.dstrace"));
    EXPECT_THAT(imported.formats, testing::ElementsAre(seed.format)) << seed.fixture;
    seeded.insert(seed.format);
  }
  std::set<std::string> known;
  for (const ImportFormat& format : import_formats()) known.emplace(format.name);
  EXPECT_EQ(seeded, known) << "every format has seeds, in a folder of its name";
  EXPECT_THAT(
      import_recordings({folder.write("packed.gz", "\x1f\x8b\x08")}, {}, folder / "a").error().message,
      HasSubstr("ends within its packed text"));
  EXPECT_FALSE(import_recordings({folder / "absent"}, {}, folder / "a"));
}

}  // namespace
}  // namespace draftscope::traces
