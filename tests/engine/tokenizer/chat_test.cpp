// SPDX-License-Identifier: GPL-3.0-or-later
// Chat templates render as transformers renders them (make_chat_goldens.py), or say why they do not.

#include "goldens.h"
#include "tokenizer/jinja/render.h"

namespace draftscope::engine {
namespace {

using nlohmann::json;

Result<Tokenizer> with_template(const json& chat_template) {
  const json configuration{
      {"bos_token", "<s>"}, {"eos_token", {{"content", "</s>"}}}, {"chat_template", chat_template}};
  return Tokenizer::parse(goldens::read("llama3.tokenizer.json"), configuration.dump());
}

TEST(ChatTemplate, RendersConversationsAsTransformersDoes) {
  const json golden = goldens::read_json("chat.json");
  for (const auto& [name, texts] : golden["texts"].items()) {
    SCOPED_TRACE(name);
    const auto tokenizer = with_template(goldens::chat_template(name));
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    ASSERT_TRUE(tokenizer->has_chat_template()) << tokenizer->apply_chat_template({}).error().message;
    ASSERT_EQ(texts.size(), golden["conversations"].size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      std::vector<Message> messages;
      for (const auto& message : golden["conversations"][i])
        messages.push_back({message["role"], message["content"]});
      const auto text = tokenizer->apply_chat_template(messages);
      if (texts[i].is_string())
        EXPECT_EQ(text ? *text : text.error().message, texts[i].get<std::string>());
      else
        EXPECT_EQ(text ? *text : text.error().message,
                  "tokenizer_config.json: chat_template: " + texts[i]["raised"].get<std::string>());
    }
  }
}

jinja::Value value_of(const nlohmann::ordered_json& json) {
  using jinja::Charge, jinja::Value;
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return Value{json.get<std::string>(), Charge()};
  if (json.is_null()) return jinja::None{};
  jinja::List list;
  jinja::Dictionary entries;
  for (const auto& [key, member] : json.items()) {
    list.push_back(value_of(member));
    entries.emplace_back(Value{key, Charge()}, list.back());
  }
  return json.is_array() ? Value{std::move(list), Charge()} : Value{std::move(entries), Charge()};
}

TEST(ChatTemplate, RendersEachPartOfTheLanguageAsJinja2Does) {
  const auto golden = nlohmann::ordered_json::parse(goldens::read("jinja.json"));
  jinja::Variables variables;
  for (const auto& [name, value] : golden["variables"].items()) variables.emplace_back(name, value_of(value));
  for (const auto& expected : golden["cases"]) {
    const std::string source = expected["template"];
    const auto block = jinja::parse_template(source);
    const auto text =
        block ? jinja::render(*block, variables) : Result<std::string>(fail("{}", block.error().message));
    if (expected.contains("text")) {
      EXPECT_EQ(text ? *text : text.error().message, expected["text"].get<std::string>()) << source;
    } else {
      EXPECT_FALSE(text) << source << " gives " << *text;
    }
  }
}

TEST(ChatTemplate, TakesTheOneCalledDefaultOfSeveral) {
  const auto tokenizer = with_template(json::array({{{"name", "tool_use"}, {"template", "{% nothing %}"}},
                                                    {{"name", "default"}, {"template", "{{ eos_token }}"}}}));
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(tokenizer->apply_chat_template({}).value_or("failed"), "</s>");
}

TEST(ChatTemplate, PrintsTheDateOfToday) {
  const auto tokenizer = with_template("{% if strftime_now is defined %}{{ strftime_now('%Y') }}{% endif %}");
  ASSERT_TRUE(tokenizer);
  EXPECT_THAT(tokenizer->apply_chat_template({}).value_or("failed"),
              testing::MatchesRegex("2[0-9][0-9][0-9]"));
}

TEST(ChatTemplate, IsReadFromItsOwnFileBeforeTheConfiguration) {
  const draftscope::test::TemporaryFolder folder;
  draftscope::test::write_bytes(folder / "tokenizer.json", goldens::read("llama3.tokenizer.json"));
  draftscope::test::write_bytes(folder / "tokenizer_config.json",
                                R"({"bos_token": "<s>", "chat_template": "old"})");
  draftscope::test::write_bytes(folder / "chat_template.jinja", "{{ bos_token }}new\n");
  const auto tokenizer = Tokenizer::load(folder.path());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(tokenizer->apply_chat_template({}).value_or("failed"), "<s>new");
}

TEST(ChatTemplate, SaysWhyATemplateCannotBeRendered) {
  struct Case {
    std::string source;
    std::string message;  // text after "tokenizer_config.json: chat_template: "
  };
  std::string deep = "1";
  std::string blocks;
  for (int i = 0; i < 10'000; ++i) {
    deep = "(" + deep + ")";
    blocks += "{% if 1 %}";
  }
  std::string chain = "1";
  for (int i = 0; i < 100'000; ++i) chain += "+1";
  const std::vector<Case> cases{
      {"a\n{% do x() %}", "line 2: found a tag 'do', expected one of Jinja's"},
      {"{{ x | nothing }}", "found a filter 'nothing', expected one of Jinja's"},
      {"{{ x is prime }}", "found a test 'prime', expected one of Jinja's"},
      {"{{ [].sort() }}", "'sort' is undefined, expected a function"},
      {"{{ lipsum() }}", "lipsum gives another text each time, expected a template without it"},
      {"{{ [1] | random }}", "random gives another value each time, expected a template without it"},
      {"{{ '\\N{DASH}' }}", "line 1: escape '\\N' is not implemented"},
      {"{{ '\\u00' }}", "line 1: escape '\\u00' names no character, expected 4 hexadecimal digits"},
      {"{{ x", "line 1: a tag has no }}, expected one"},
      {"{# x", "line 1: {# has no end, expected #}"},
      {"{{ 'x }}", "line 1: a string has no closing ', expected one"},
      {"{{ x ! y }}", "line 1: found '!', expected a part of a template expression"},
      {"{% if x %}y", "line 1: 'a tag's edge' where an {% end… %} was expected"},
      {"x{% endif %}", "line 1: 'a tag's edge' where the end of the template was expected"},
      {"{{ x y }}", "line 1: 'y' where }} was expected"},
      {"{{ " + deep + " }}", "line 1: is nested too deep, expected at most 100 levels"},
      {blocks, "line 1: is nested too deep, expected at most 100 levels"},
      {"{{ " + chain + " }}", "line 1: is nested too deep, expected at most 100 levels"},
      {"{{ missing.member }}", "an undefined value has no members, expected a defined one"},
      {"{{ missing + 'x' }}", "undefined + a string is not possible, expected values of other types"},
      {"{{ 1 // 0 }}", "// by zero is not possible, expected another number"},
      {"{{ loop_controls() }}", "'loop_controls' is undefined, expected a function"},
      {"{{ [] | select }}", "printing a generator is not implemented"},
      {"{{ 9223372036854775807 + 1 }}", "9223372036854775807 + 1 is too large, expected at most 64 bits"},
      {"{% set n = namespace() %}{% set n.n = n %}", "a namespace within a namespace is not implemented"},
      {"{% set n = namespace() %}{% set n.n = [n] %}",
       "a namespace or a loop within a list or dictionary is not implemented"},
      {"{{ raise_exception('a reason') }}", "a reason"},
      {"{% set x = 'xxxxxxxx' %}{% for a in [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] %}{% set x = x "
       "~ x %}"
       "{% endfor %}{% set n = namespace(x=x) %}{% for a in "
       "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] %}"
       "{% set n.x = n.x ~ n.x %}{% endfor %}",
       "~: the text is too long, expected at most 16777216 bytes"},
  };
  for (const auto& [source, message] : cases) {
    const auto tokenizer = with_template(source);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    const auto text = tokenizer->apply_chat_template({});
    ASSERT_FALSE(text) << source.substr(0, 80);
    EXPECT_EQ(text.error().message, "tokenizer_config.json: chat_template: " + message)
        << source.substr(0, 80);
  }
}

TEST(ChatTemplate, IsAbsentWithoutAConfiguration) {
  const Tokenizer tokenizer = goldens::tokenizer("llama3");
  EXPECT_FALSE(tokenizer.has_chat_template());
  EXPECT_EQ(tokenizer.apply_chat_template({}).error().message,
            "chat template: found none, expected one with the tokenizer");
}

TEST(ChatTemplate, RefusesAMalformedConfiguration) {
  const std::string tokenizer_json = goldens::read("llama3.tokenizer.json");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"[", "tokenizer_config.json: is not JSON from byte 2 on, expected a whole JSON text"},
      {"[]", "tokenizer_config.json is an array, expected an object"},
      {R"({"bos_token": 1})", "tokenizer_config.json: bos_token is 1, expected a string"},
      {R"({"bos_token": {}})", "tokenizer_config.json: bos_token.content is missing, expected a string"},
      {R"({"chat_template": {}})", "tokenizer_config.json: chat_template is an object, expected a string"},
      {R"({"chat_template": [{"name": "default"}]})",
       "tokenizer_config.json: chat_template[0].template is missing, expected a string"},
  };
  for (const auto& [configuration, message] : cases) {
    const auto tokenizer = Tokenizer::parse(tokenizer_json, configuration);
    ASSERT_FALSE(tokenizer) << configuration;
    EXPECT_EQ(tokenizer.error().message, message);
  }
}

}  // namespace
}  // namespace draftscope::engine
