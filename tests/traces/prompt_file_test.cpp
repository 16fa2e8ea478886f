// SPDX-License-Identifier: GPL-3.0-or-later
// Prompt files in the forms that benchmarks publish.
#include <gmock/gmock.h>

#include <draftscope/traces/prompt_file.h>

#include <filesystem>
#include <fstream>

namespace draftscope::traces {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<std::vector<Question>> read(const std::string& text, const std::string& name = "prompts.jsonl",
                                   std::size_t* without_prompt = nullptr) {
  const auto path = std::filesystem::path(testing::TempDir()) / name;
  std::ofstream(path) << text;
  auto questions = read_questions(path, without_prompt);
  std::filesystem::remove(path);
  return questions;
}

TEST(PromptFile, HasOneTextInEachForm) {
  for (
      const char* line :
      {R"({"turns":["hi"]})", R"({"prompt":"hi"})", R"({"text":"hi"})", R"({"question":"hi","answer":"4"})",
       R"("hi")", R"({"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"there"}]})",
       R"({"messages":[{"role":"user","content":[{"type":"text","text":"h"},{"type":"text","text":"i"}]}]})",
       R"({"conversations":[{"from":"human","value":"hi"},{"from":"gpt","value":"a"},{"from":"human","value":"b"}]})",
       R"({"prompt":[{"role":"user","content":"hi"}],"category":null})", R"({"turns":"hi"})",
       R"({"conversation":[{"role":"user","content":"hi"},{"role":"assistant","content":"a"},{"role":"user","content":"b"}]})",
       R"({"instruction":"hi","input":""})", R"({"problem":"hi"})",
       R"({"custom_id":"a","url":"/v1/completions","body":{"model":"m","prompt":"hi"}})"}) {
    for (const std::string& text :
         {std::string(line), "[" + std::string(line) + "]", "\xef\xbb\xbf" + std::string(line) + "\r\n",
          R"({"version":1,"data":[)" + std::string(line) + "]}"}) {
      const auto questions = read(text);
      ASSERT_TRUE(questions) << questions.error().message;
      ASSERT_EQ(questions->size(), 1U);
      EXPECT_THAT(questions->front().turns, ElementsAre("hi")) << text;
      EXPECT_TRUE(questions->front().given.empty());
    }
  }
  const auto plain = read("{hi}\r\n\n[there]\n", "prompts.txt");
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->at(0).turns.front(), "{hi}");
  EXPECT_EQ(plain->at(1).turns.front(), "[there]");
}

TEST(PromptFile, MayBeOneObjectOverSeveralLines) {
  const auto questions = read("{\n \"instruction\": \"a\",\n \"input\": \"b\"\n}\n");
  ASSERT_TRUE(questions) << questions.error().message;
  EXPECT_THAT(questions->front().turns, ElementsAre("a\n\nb"));
}

TEST(PromptFile, LeavesOutQuestionsWithoutAPromptWhereTheyAreCounted) {
  const std::string text =
      R"([{"id":"a","conversations":[]},{"id":"b","conversations":[{"from":"gpt","value":"x"}]},{"id":"c","text":""},)"
      R"({"id":"d","conversations":[{"from":"human","value":"hi"}]}])";
  EXPECT_FALSE(read(text));
  std::size_t without_prompt = 0;
  const auto questions = read(text, "prompts.jsonl", &without_prompt);
  ASSERT_TRUE(questions) << questions.error().message;
  ASSERT_EQ(questions->size(), 1U);
  EXPECT_EQ(questions->front().name, "d");
  EXPECT_EQ(without_prompt, 3U);
  EXPECT_FALSE(read(R"([{"conversations":[{"from":"human","value":7}]}])", "prompts.jsonl", &without_prompt));
}

TEST(PromptFile, KeepsIdsOfEitherKind) {
  const auto questions = read(R"({"question_id":"a8","category":"coding","turns":["x"],"multiturn":false})"
                              "\n"
                              R"({"task_id":"H/0","prompt":"x"})"
                              "\n"
                              R"({"question_id":81,"turns":["x"]})");
  ASSERT_TRUE(questions) << questions.error().message;
  std::vector<std::string> labels;
  for (const Question& question : *questions) labels.push_back(question_label(question));
  EXPECT_THAT(labels, ElementsAre("a8", "H/0", "81"));
  EXPECT_EQ(questions->at(1).question_id, 2);
  EXPECT_EQ(questions->at(0).category, "coding");
  const auto mixed = read(R"({"question_id":2,"text":"a"})"
                          "\n"
                          R"({"id":"x","text":"b"})"
                          "\n"
                          R"({"text":"c"})");
  ASSERT_TRUE(mixed) << mixed.error().message;
  EXPECT_EQ(mixed->at(0).question_id, 2);
  EXPECT_EQ(mixed->at(1).question_id, 4) << "its place is another one's id";
  EXPECT_EQ(mixed->at(2).question_id, 3);
}

TEST(PromptFile, GivesWhatStandsBeforeTheLastMessage) {
  const auto questions = read(
      R"({"messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]})");
  ASSERT_TRUE(questions) << questions.error().message;
  EXPECT_THAT(questions->front().turns, ElementsAre("c"));
  ASSERT_EQ(questions->front().given.size(), 3U);
  EXPECT_EQ(questions->front().given[0].role, "system");
  EXPECT_EQ(questions->front().given[2].content, "b");
}

TEST(PromptFile, IsRefusedByFileLineAndField) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"{}", "jsonl:1: turns is missing, expected a question with turns, prompt"},
      {"\n7", "jsonl:2: found text that is not a JSON object"},
      {"[{}", "is not JSON from byte 4 on, expected a whole JSON text"},
      {R"([{"prompt":1}])", "question 1: prompt is 1, expected a string"},
      {R"({"messages":[{"role":"system","content":"s"}]})", "expected a list with a message of the user"},
      {R"({"messages":[{"role":"user","content":[{"type":"image"}]}]})",
       "text is missing, expected a string"},
      {R"({"id":"a","text":"x"})"
       "\n"
       R"({"id":"a","text":"y"})",
       "jsonl:2: question_id a occurs twice"},
      {R"({"id":1.5,"text":"x"})", "id is 1.5, expected an integer"},
      {R"({"text":""})", "holds an empty string"},
      {"[]", "found no question"}};
  for (const auto& [text, message] : cases) {
    const auto questions = read(text);
    ASSERT_FALSE(questions) << text;
    EXPECT_THAT(questions.error().message, HasSubstr(message));
  }
}

}  // namespace
}  // namespace draftscope::traces
