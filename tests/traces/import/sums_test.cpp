// SPDX-License-Identifier: GPL-3.0-or-later
// Sources that operators have: logs, scrapes, results of benchmarks. The expected figures were computed by
// hand.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#ifdef DRAFTSCOPE_ZSTD
#include <zstd.h>
#endif

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "imported.h"

namespace draftscope::traces {
namespace {

using test::bytes_of;
using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr double exact = 1e-9;

std::string refusal_of(const std::vector<std::filesystem::path>& files, const ImportFolder& folder) {
  const auto imported = import_recordings(files, {.overwrite = true}, folder / "refused.dstrace");
  return imported ? "taken" : imported.error().message;
}

TEST(VllmLogImport, SumsTheIntervalsOfEveryWording) {
  const Imported log = import_fixture("vllm_log/wordings.log");
  const auto stated = stated_figures(log);
  EXPECT_EQ(stated["accepted_tokens"], 42);
  EXPECT_EQ(stated["drafted_tokens"], 120);
  EXPECT_EQ(stated["verify_steps"], 10 + 20 + 10);
  EXPECT_THAT(stated["mean_accepted_length"].get<double>(), DoubleNear(1.0 + 42.0 / 40.0, exact));
  EXPECT_THAT(stated["acceptance_by_position"][0].get<double>(), DoubleNear((6.0 + 14.0) / 40.0, exact));
  EXPECT_THAT(stated["acceptance_by_position"][2].get<double>(), DoubleNear((2.0 + 6.0) / 40.0, exact));
  EXPECT_THAT(log.summary.missing, Contains(MissingData::rounds));
}

std::string stated_text(const Imported& imported) {
  const auto found = imported.recording.meta.find("stated_figures");
  return found == imported.recording.meta.end() ? std::string() : found->second;
}

void expect_same(const Imported& taken, const Imported& plain) {
  EXPECT_EQ(taken.summary.formats, plain.summary.formats);
  EXPECT_EQ(taken.summary.runs, plain.summary.runs);
  EXPECT_EQ(taken.summary.requests, plain.summary.requests);
  EXPECT_EQ(taken.summary.rounds, plain.summary.rounds);
  EXPECT_EQ(taken.summary.spans, plain.summary.spans);
  EXPECT_EQ(stated_text(taken), stated_text(plain));
}

TEST(LogImport, IsThatOfThePlainLogWhateverACollectorMadeOfIt) {
  const auto in_json = [](const char* key) {
    return [key](const std::string& line) {
      return nlohmann::json{{key, line + "\n"}, {"stream", "x"}}.dump();
    };
  };
  const auto after = [](const std::string& prefix) {
    return [prefix](const std::string& line) { return prefix + line; };
  };
  const std::function<std::string(const std::string&)> collectors[] = {
      in_json("log"),
      in_json("message"),
      after("2026-09-09T11:51:35.123456789Z stderr F "),
      after("server-1  | "),
      after("[53409] "),
      [](const std::string& line) { return "\x1b[32m" + line + "\x1b[0m"; }};
  for (const char* name : {"vllm_log/wordings.log", "sglang_log/wordings.log", "llama_cpp/server_default.log",
                           "llama_cpp/server_trace.log"}) {
    const Imported plain = import_fixture(name);
    for (const auto& collect : collectors) {
      std::ifstream lines(fixture(name));
      std::string text;
      for (std::string line; std::getline(lines, line);) text += collect(line) + '\n';
      SCOPED_TRACE(text.substr(0, 100));
      const Imported collected = import_text(std::filesystem::path(name).filename(), text);
      expect_same(collected, plain);
      if (!plain.recording.requests.empty()) {
        EXPECT_EQ(collected.recording.requests[0].end_ns, plain.recording.requests[0].end_ns);
      }
    }
  }
}

TEST(LlamaCppImport, TakesTimesThatDoNotNameTheirTaskAndServersThatBeganAnew) {
  const std::string log =
      "slot launch_slot_: id  0 | task 0 | processing task\n"
      "slot print_timing: id  0 | task 0 | \n"
      "prompt eval time =     300.00 ms /    20 tokens (   15.00 ms per token,    66.67 tokens per second)\n"
      "       eval time =     500.00 ms /    50 tokens (   10.00 ms per token,   100.00 tokens per second)\n"
      "      total time =     800.00 ms /    70 tokens\n"
      "draft acceptance rate = 0.60000 (   30 accepted /    50 generated)\n"
      "slot      release: id  0 | task 0 | stop processing: n_past = 69, truncated = 0\n"
      "prompt eval time =     999.00 ms /    20 tokens\n";
  const Imported named = import_text("a.log", log + log);
  ASSERT_THAT(named.recording.requests, SizeIs(2));
  EXPECT_EQ(named.recording.requests[0].tokens.size(), 50U);
  expect_stated(named, {{"accepted", 60}, {"drafted", 100}});
  const std::string server = bytes_of(fixture("llama_cpp/server_default.log"));
  const Imported anew = import_text("b.log", server + server);
  ASSERT_THAT(anew.recording.requests, SizeIs(2));
  EXPECT_GE(anew.recording.requests[1].start_ns, anew.recording.requests[0].end_ns);
  EXPECT_EQ(anew.recording.requests[1].end_ns - anew.recording.requests[1].start_ns,
            anew.recording.requests[0].end_ns - anew.recording.requests[0].start_ns);
}

TEST(AcceptanceImport, StatesTheSumsOfResponsesWithoutLists) {
  const Imported log = import_text(
      "a.jsonl",
      R"({"usage":{"completion_tokens":6},"metrics":{"speculative_decoding":{"num_spec_steps":3,"num_draft_tokens":9,"num_accepted_draft_tokens":3,"acceptance_histogram":{"0":1,"1":1,"2":1}}}})");
  expect_stated(log, {{"accepted_tokens", 3}, {"drafted_tokens", 9}});
  EXPECT_THAT(log.recording.rounds, SizeIs(0));
}

TEST(VllmLogImport, PassesOverACutLineOfALogThatIsStillWritten) {
  const ImportFolder folder;
  const std::string log = bytes_of(fixture("vllm_log/wordings.log"));
  const auto cut =
      folder.write("a.log", log + "INFO [metrics.py:1] SpecDecoding metrics: Mean acceptance le");
  EXPECT_THAT(refusal_of({cut}, folder), HasSubstr("is missing"));
  const auto cut_in_a_number = folder.write(
      "b.log",
      log + "INFO SpecDecoding metrics: Mean acceptance length: 2.00, Accepted: 4 tokens, Drafted: 1");
  const auto cut_behind_one = folder.write(
      "c.log",
      log + "INFO SpecDecoding metrics: Mean acceptance length: 2.00, Accepted: 4 tokens, Drafted: 12");
  for (const auto& file : {cut, cut_in_a_number, cut_behind_one}) {
    const Imported partial =
        import_soundly({file}, {.overwrite = true, .partial = true}, folder / "a.dstrace");
    EXPECT_EQ(stated_figures(partial)["accepted_tokens"], 42) << file;
  }
}

TEST(VllmLogImport, TakesV0sWordsOfAnInterval) {
  const Imported log =
      import_text("a.log",
                  "INFO [metrics.py:1] Speculative metrics: Draft acceptance rate: 0.500, Number of "
                  "accepted tokens: 3, Number of draft tokens: 6, \n"
                  "INFO [metrics.py:1] Speculative metrics: Draft acceptance rate: 0.250, Number of "
                  "accepted tokens: 1, Number of draft tokens: 4, \n");
  expect_stated(log, {{"accepted_tokens", 4}, {"drafted_tokens", 10}});
  EXPECT_FALSE(stated_figures(log).contains("verify_steps")) << "the line has neither steps nor a length";
}

TEST(JsonImport, TakesObjectsOverSeveralLinesAndLists) {
  const ImportFolder folder;
  for (const Seed& seed : seeds()) {
    const std::filesystem::path source = fixture(seed.fixture);
    if (source.extension() != ".jsonl" || seed.format == "rounds") continue;
    SCOPED_TRACE(seed.fixture);
    const Imported plain = import_soundly({source}, {.overwrite = true}, folder / "a.dstrace");
    nlohmann::json list = nlohmann::json::array();
    std::string pretty;
    std::ifstream lines(source);
    for (std::string line; std::getline(lines, line);) {
      const nlohmann::json object = nlohmann::json::parse(line, nullptr, false);
      if (object.is_discarded()) continue;  // with Python's numbers
      list.push_back(object);
      pretty += object.dump(2) + '\n';
    }
    for (const std::string& text : {pretty, list.dump(), list.dump(2), "\xef\xbb\xbf" + list.dump()}) {
      const Imported taken = import_text(source.filename().string(), text);
      EXPECT_EQ(taken.summary.formats, plain.summary.formats);
      EXPECT_EQ(taken.summary.requests, plain.summary.requests);
      EXPECT_EQ(taken.summary.rounds, plain.summary.rounds);
      if (list.size() == static_cast<std::size_t>(plain.summary.requests)) {
        EXPECT_EQ(stated_text(taken), stated_text(plain));
      }
    }
  }
  const std::string one = bytes_of(fixture("llama_answers/server_trace.jsonl"));
  const std::string first = one.substr(0, one.find('\n'));
  EXPECT_THAT(refusal_of({folder.write("open.json", "[" + first)}, folder),
              HasSubstr("has no end, expected"));
  EXPECT_THAT(
      refusal_of({folder.write("cut.json", first.substr(0, first.size() - 1) + "\n" + first)}, folder),
      HasSubstr("line 1: is not JSON"));
}

TEST(VllmLogImport, TakesTheLastOfTotalsAndWhatCameOut) {
  const Imported log = import_fixture("vllm_log/totals.log");
  expect_stated(log, {{"accepted_tokens", 48}, {"verify_steps", 20}});
  EXPECT_EQ(stated_figures(log)["mean_accepted_length"], 2.5) << "50 tokens came out of 20 verifications";
}

TEST(SglangLogImport, WeighsTheMeansOfEveryWordingByRequests) {
  const Imported log = import_fixture("sglang_log/wordings.log");
  EXPECT_EQ(log.summary.formats.at(0), "sglang-log");
  const auto stated = stated_figures(log);
  EXPECT_EQ(stated["log_lines"], 5);
  EXPECT_EQ(stated["lines_with_speculation"], 3);
  EXPECT_THAT(stated["mean_accepted_length"].get<double>(),
              DoubleNear((1 * 2.0 + 3 * 3.0 + 4 * 2.5) / 8, exact));
  EXPECT_THAT(stated["mean_running_requests"].get<double>(), DoubleNear(9.0 / 5, exact));
  EXPECT_EQ(stated["tokens_per_second_of_the_middle_line"], 150.0);
  EXPECT_FALSE(stated.contains("acceptance_rate")) << "servers disagree on what they divide by";
  EXPECT_THAT(log.summary.missing, Contains(MissingData::rounds));
}

TEST(VllmVcrImport, HasEachStepsTimeAndTokens) {
  const Imported log = import_fixture("vllm_vcr/steps.jsonl", {.draft_length = 3});
  ASSERT_THAT(log.recording.requests, SizeIs(3));
  ASSERT_THAT(log.recording.rounds, SizeIs(5));
  EXPECT_EQ(log.recording.rounds[0].emitted, 3);
  EXPECT_EQ(log.recording.rounds[0].accepted, 2);
  EXPECT_EQ(log.recording.rounds[1].drafted, 3) << "a draft of which nothing was accepted";
  EXPECT_EQ(log.recording.rounds[1].start_ns, 30'000'000);
  EXPECT_EQ(log.recording.rounds[1].end_ns, 42'500'000);
  EXPECT_EQ(log.recording.rounds[3].drafted, 0) << "plain steps";
  EXPECT_THAT(log.recording.requests[0].tokens, testing::ElementsAre(5, 6, 7, 8, 9, 10, 11, 12, 13));
  EXPECT_EQ(log.recording.requests[2].end_ns, 100'000'000 + 60'000'000);
  EXPECT_THAT(log.summary.missing, Not(Contains(MissingData::round_times)));
}

TEST(PrometheusImport, IsTheDifferenceOfTwoScrapes) {
  const ImportFolder folder;
  const auto before =
      folder.write("before.txt",
                   "# TYPE vllm:spec_decode_num_drafts_total counter\n"
                   "vllm:spec_decode_num_drafts_total{engine=\"0\",model_name=\"tiny/demo\"} 10\n"
                   "vllm:spec_decode_num_accepted_tokens_total{engine=\"0\",model_name=\"tiny/demo\"} 9\n"
                   "vllm:spec_decode_num_draft_tokens_total{engine=\"0\",model_name=\"tiny/demo\"} 30\n"
                   "vllm:spec_decode_num_accepted_tokens_per_pos_total{engine=\"0\",model_name=\"tiny/"
                   "demo\",position=\"0\"} 6\n"
                   "vllm:spec_decode_num_accepted_tokens_per_pos_total{engine=\"0\",model_name=\"tiny/"
                   "demo\",position=\"1\"} 3\n");
  const Imported both = import_soundly({before, fixture("prometheus/vllm.txt")}, {.specification = "mtp"},
                                       folder / "a.dstrace");
  expect_stated(
      both,
      {{"verify_steps", 20}, {"drafted_tokens", 60}, {"accepted_tokens", 30}, {"mean_accepted_length", 2.5}});
  EXPECT_EQ(both.recording.runs.at(0).specification, "mtp");

  const Imported one = import_fixture("prometheus/vllm.txt");
  expect_stated(one, {{"verify_steps", 30},
                      {"time_to_first_token_ns", 0.25e9},
                      {"decode_tokens_per_second", 46.0},
                      {"acceptance_by_position", {0.8, 0.5}}});
  EXPECT_EQ(one.recording.meta.at("model"), "tiny/demo");

  EXPECT_THAT(refusal_of({fixture("prometheus/vllm.txt"), before}, folder),
              HasSubstr("the server began anew"));
  const auto started = [&](const char* name, const char* start, int drafts) {
    return folder.write(name, fmt::format("process_start_time_seconds {}\n"
                                          "vllm:spec_decode_num_drafts_total{{engine=\"0\"}} {}\n",
                                          start, drafts));
  };
  EXPECT_THAT(refusal_of({started("first.txt", "1.76460000012e+09", 100),
                          started("then.txt", "1.76460360034e+09", 150)},
                         folder),
              HasSubstr("the server began anew"))
      << "though no counter went back";
  EXPECT_THAT(refusal_of({fixture("prometheus/vllm.txt"), fixture("prometheus/vllm.txt")}, folder),
              HasSubstr("is both scrapes, expected one before"));
  const Imported sglang = import_fixture("prometheus/sglang.txt");
  EXPECT_EQ(stated_figures(sglang)["mean_accepted_length"], 2.5) << "without each request's first token";
}

TEST(ServeBenchImport, TakesBothProgramsAndTheirRequests) {
  const Imported vllm = import_fixture("serve_bench/vllm.json");
  ASSERT_THAT(vllm.recording.requests, SizeIs(2));
  EXPECT_EQ(vllm.recording.requests[0].end_ns, 440'000'000);
  EXPECT_EQ(vllm.recording.requests[0].tokens.size(), 12U);
  expect_stated(vllm, {{"acceptance_rate", 0.5}, {"verify_steps", 6}});
  const Imported sglang = import_fixture("serve_bench/sglang.jsonl");
  ASSERT_THAT(sglang.recording.runs, SizeIs(2)) << "a run a line";
  expect_stated(sglang, {{"mean_accepted_length", 2.75}, {"tokens_per_second", 15.0}});
}

TEST(ServeBenchImport, TakesHostsThatAreUpForLongAndRequestsOfWhichLittleIsKnown) {
  const Imported run = import_text(
      "run.json",
      R"({"completed":2,"output_throughput":1.0,"request_throughput":1.0,"ttfts":[0.04,null],"itls":[[0.1],null],)"
      R"("output_lens":[2,null],"start_times":[20000000.5,20000001.5]})");
  ASSERT_THAT(run.recording.requests, SizeIs(2));
  EXPECT_EQ(run.recording.requests[0].start_ns, 20'000'000'500'000'000) << "231 days";
  EXPECT_EQ(run.recording.requests[0].end_ns - run.recording.requests[0].start_ns, 140'000'000);
  EXPECT_EQ(run.recording.requests[1].start_ns, 20'000'001'500'000'000);
  EXPECT_THAT(run.summary.missing, Contains(MissingData::wall_times));
}

TEST(GuidellmImport, MakesARunOfEachBenchmark) {
  const Imported log = import_fixture("guidellm/benchmarks.json");
  ASSERT_THAT(log.recording.runs, SizeIs(2));
  ASSERT_THAT(log.recording.requests, SizeIs(4));
  EXPECT_EQ(log.recording.requests[0].end_ns - log.recording.requests[0].start_ns, 500'000'000);
  EXPECT_EQ(log.recording.requests[1].tokens.size(), 20U);
  EXPECT_EQ(log.recording.requests[2].stop, RequestStop::cancelled);
}

TEST(LmStudioImport, TakesServersAndLibrariesNames) {
  const Imported log = import_fixture("lm_studio/answers.jsonl");
  ASSERT_THAT(log.recording.requests, SizeIs(2));
  EXPECT_EQ(log.recording.requests[0].end_ns, 700'000'000) << "0.6 s after the first token";
  EXPECT_EQ(log.recording.requests[0].tokens.size(), 30U);
  EXPECT_EQ(log.recording.requests[1].stop, RequestStop::length);
  expect_stated(log, {{"drafted_tokens", 50}, {"accepted_tokens", 25}});
}

TEST(LlamaCppImport, KeepsTheSumsOfAServerAtItsDefaultVerbosity) {
  const Imported log = import_fixture("llama_cpp/server_default.log");
  ASSERT_THAT(log.recording.requests, SizeIs(1));
  EXPECT_EQ(log.recording.requests[0].tokens.size(), 50U);
  EXPECT_EQ(log.recording.requests[0].end_ns - log.recording.requests[0].start_ns, 800'010'000);
  expect_stated(log, {{"accepted", 30},
                      {"drafted", 50},
                      {"mean_accepted_length", 2.5},
                      {"acceptance_by_position", {0.8, 0.5, 0.2}}});
  EXPECT_THAT(log.summary.missing, Contains(MissingData::rounds));
  EXPECT_THAT(log.summary.missing, Not(Contains(MissingData::plain_steps)));
}

std::string packed_with_gzip(const std::string& text, const std::filesystem::path& target) {
  gzFile file = gzopen(target.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return bytes_of(target);
}

#ifdef DRAFTSCOPE_ZSTD
/// Two parts, as zstd appends them, after one without text, with which pzstd begins a file.
std::string packed_with_zstd(const std::string& text, const std::filesystem::path& /*target*/) {
  std::string packed("\x50\x2a\x4d\x18\x04\0\0\0free", 12);
  for (const std::string& part : {text.substr(0, text.size() / 2), text.substr(text.size() / 2)}) {
    std::string bytes(ZSTD_compressBound(part.size()), '\0');
    bytes.resize(ZSTD_compress(bytes.data(), bytes.size(), part.data(), part.size(), 3));
    packed += bytes;
  }
  return packed;
}
#endif

struct Packing {
  const char* ending;
  std::string (*pack)(const std::string& text, const std::filesystem::path& target);
};
const Packing packings[] = {{".gz", packed_with_gzip},
#ifdef DRAFTSCOPE_ZSTD
                            {".zst", packed_with_zstd}
#endif
};

/// The text in the encoding of Windows.
std::string with_returns(const std::string& text, const std::filesystem::path& /*target*/) {
  std::string encoded = "\xef\xbb\xbf";
  for (const char c : text) encoded += c == '\n' ? "\r\n" : std::string(1, c);
  return encoded;
}

TEST(TextImport, IsThatOfThePlainFilePackedAndInTheEncodingOfWindows) {
  const ImportFolder folder;
  std::vector<Packing> forms(std::begin(packings), std::end(packings));
  forms.push_back({"", with_returns});
  for (const Seed& seed : seeds()) {
    if (seed.format == "nsys") continue;
    const std::filesystem::path source = fixture(seed.fixture);
    const Imported plain = import_soundly({source}, {.overwrite = true}, folder / "a.dstrace");
    for (const auto& [ending, form] : forms) {
      SCOPED_TRACE(seed.fixture + ending);
      const auto file = folder / (source.filename().string() + ending);
      expect_same(import_text(file.filename().string(), form(bytes_of(source), file)), plain);
    }
  }
}

TEST(PackedImport, RefusesWhatIsCutDamagedOrOfAnotherPacking) {
  const ImportFolder folder;
  std::string lines;
  for (int i = 0; i < 80 << 10; ++i) lines += std::string(1023, 'a') + '\n';
  for (const auto& [ending, pack] : packings) {
    SCOPED_TRACE(ending);
    std::string text = pack(bytes_of(fixture("rounds/two_requests.jsonl")), folder / "whole");
    EXPECT_THAT(refusal_of({folder.write("cut", text.substr(0, text.size() - 20))}, folder),
                HasSubstr("ends within its packed text"));
    text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 0x5a);
    text[text.size() / 2 + 1] = static_cast<char>(text[text.size() / 2 + 1] ^ 0x5a);
    EXPECT_NE(refusal_of({folder.write("damaged", text)}, folder), "taken");
    EXPECT_THAT(refusal_of({folder.write("behind", text + "no packed part")}, folder), HasSubstr("expected"));
    const auto bomb = import_recordings({folder.write("bomb", pack(lines, folder / "whole"))},
                                        {.format = "llama-cpp"}, folder / "refused.dstrace");
    ASSERT_FALSE(bomb);
    EXPECT_THAT(bomb.error().message, HasSubstr("unpacks to more than 256 times its length"));
  }
  EXPECT_THAT(refusal_of({folder.write("a.xz", std::string("\xfd\x37zXZ\0 ", 7))}, folder),
              HasSubstr("is compressed with xz"));
  EXPECT_THAT(refusal_of({folder.write("a.zip", "PK\x03\x04")}, folder), HasSubstr("with zip"));
  EXPECT_THAT(refusal_of({folder.write("a.log", std::string("\xff\xfe[\0", 4))}, folder),
              HasSubstr("is text in UTF-16"));
}

TEST(Detection, ReadsTheFirstRecordHoweverLongAndALogByItsFirstKnownLine) {
  const ImportFolder folder;
  const std::string filler(70'000, 'x');
  const auto format_of = [&](const std::string& name, const std::string& text) {
    const auto imported =
        import_recordings({folder.write(name, text)}, {.overwrite = true}, folder / "out.dstrace");
    return imported ? std::string(imported->formats.at(0)) : imported.error().message;
  };
  EXPECT_EQ(format_of("a", R"({"text":")" + filler + R"(","meta_info":{"completion_tokens":3}})"), "sglang");
  EXPECT_EQ(format_of("b", R"({"content":")" + filler + R"(","timings":{"predicted_n":3,"predicted_ms":4}})"),
            "llama-answers");
  EXPECT_EQ(
      format_of("c", R"({"deviceProperties":[{"name":")" + filler +
                         R"("}],"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":1,"pid":1,"tid":1}]})"),
      "chrome");
  std::string health;
  for (int i = 0; i < 2000; ++i) health += "INFO: \"GET /health HTTP/1.1\" 200 OK and more words\n";
  std::ostringstream log;
  log << health << std::ifstream(fixture("vllm_log/wordings.log")).rdbuf();
  EXPECT_EQ(format_of("d", log.str()), "vllm-log");
  EXPECT_THAT(format_of("e", "[2026-11-20 10:10:10] Decode batch, accept len: 2.61\n"),
              HasSubstr("is none of the formats that are known (its first line is [2026-11-20"));
  for (const char* other : {"a.nsys-rep", "b.pftrace", "c.parquet"})
    EXPECT_THAT(format_of(other, "\x01\x02 of another program\n"), HasSubstr(", expected ")) << other;
  EXPECT_THAT(format_of("a.nsys-rep", "\x01"), HasSubstr("nsys export --type sqlite"));
  EXPECT_THAT(format_of("no ending", "PAR1"), HasSubstr("a table of Parquet, expected a JSON object a line"));
  EXPECT_THAT(format_of("f", R"({"meta_info":{"spec_verify_ct":-1}})"),
              HasSubstr("(taken for sglang, not for any other format"));
}

TEST(PythonNumbers, AreMissingWhereAFieldIsNanAndElsewhereRefusedByField) {
  const ImportFolder folder;
  const auto nan =
      folder.write("a.json", R"({"num_speculations":6,"exit_layer":8}{"acceptance_rate":{"mean":NaN},)"
                             R"("tokens_per_second":{"mean":55.0}})");
  const auto stated = stated_figures(import_soundly({nan}, {}, folder / "a.dstrace"));
  EXPECT_FALSE(stated.contains("acceptance_rate"));
  EXPECT_EQ(stated["tokens_per_second"], 55.0);
  EXPECT_FALSE(
      stated_figures(
          import_text("b.csv",
                      "exit_layer,num_speculations,acceptance_rate,tokens_per_second\n8,6,nan,50.0\n"))
          .contains("acceptance_rate"));
  const auto list = folder.write("c.jsonl", R"({"question_id":1,"text":"NaN","accept_lengths":[2,NaN]})");
  EXPECT_THAT(refusal_of({list}, folder), HasSubstr("accept_lengths[1] is 'NaN', expected an integer"));
  const auto infinite = folder.write("d.jsonl", R"({"per_step_accepted":[1],"wall_time":-Infinity})");
  EXPECT_THAT(refusal_of({infinite}, folder), HasSubstr("wall_time is '-Infinity', expected a duration"));
}

}  // namespace
}  // namespace draftscope::traces
