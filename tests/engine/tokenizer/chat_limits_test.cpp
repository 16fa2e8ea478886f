// SPDX-License-Identifier: GPL-3.0-or-later
// A chat template is a program from an unknown source: its resources are limited, and messages name the
// limit.

#include <pthread.h>

#include "goldens.h"
#include "tokenizer/jinja/render.h"

namespace draftscope::engine {
namespace {

using jinja::Charge;
using jinja::Limits;
using jinja::Value;

std::string rendered(const std::string& source, const Limits& limits) {
  const auto block = jinja::parse_template(source);
  if (!block) return block.error().message;
  const auto text = jinja::render(*block, {}, limits);
  return text ? *text : text.error().message;
}

std::string applied(const std::string& source) {
  const auto tokenizer = Tokenizer::parse(goldens::read("llama3.tokenizer.json"),
                                          nlohmann::json{{"chat_template", source}}.dump());
  if (!tokenizer) return tokenizer.error().message;
  const auto text = tokenizer->apply_chat_template({});
  return text ? *text : text.error().message;
}

// A list literal [1,1,1…].
std::string ones(int count) {
  std::string list = "[1";
  for (int i = 1; i < count; ++i) list += ",1";
  return list + "]";
}

std::string repeated(int times, const std::string& body) {
  return "{% for a in " + ones(times) + " %}" + body + "{% endfor %}";
}

// Sets n.x to a text of 2^doublings letters, and n.l to a list of as many numbers.
std::string large_values(int doublings) {
  return "{% set n = namespace(x='x', l=[1]) %}" +
         repeated(doublings, "{% set n.x = n.x ~ n.x %}{% set n.l = n.l + n.l %}");
}

TEST(ChatTemplateLimits, EndEmptyLoopsWithinEachOther) {
  std::string source = large_values(13) + "\n";
  for (int i = 0; i < 4; ++i) source += "{% for a in n.l %}";
  for (int i = 0; i < 4; ++i) source += "{% endfor %}";
  EXPECT_EQ(applied(source),
            "tokenizer_config.json: chat_template: line 2: more than 50000000 steps, expected at most "
            "50000000");
}

TEST(ChatTemplateLimits, CountStepsOfEveryKind) {
  const Limits limits{.steps = 20'000};
  const std::string large = large_values(10) + "{% set d = {} %}";
  ASSERT_EQ(rendered(large, limits), "");
  for (const std::string body : {"{{ 1 if 2 else 3 }}{{ 1+1+1+1+1+1+1+1+1+1+1+1+1 }}",
                                 "{{ n.l | selectattr('a', 'equalto', 1) | list | length }}",
                                 "{% set a = n.l | join('') %}",
                                 "{% set a = n.l[1:] %}",
                                 "{% set a = n.l + n.l %}",
                                 "{% set a = 2 in n.l %}",
                                 "{% for b in n.l if false %}{% endfor %}",
                                 "{% for b in n.l %}{% endfor %}",
                                 "{% set a = n.x ~ n.x %}",
                                 "{% set a = n.x == n.x ~ '' %}",
                                 "{% set a = 'y' in n.x %}",
                                 "{% set a = n.x | length %}",
                                 "{% set a = n.x | trim %}",
                                 "{% set a = n.x.strip('y') %}",
                                 "{% set a = n.x.strip(n.x) %}",
                                 "{% set a = n.x.replace('y', '') %}",
                                 "{% set a = n.x.split('y') %}",
                                 "{% set a = n.x.endswith('y') %}",
                                 "{% set a = {n.x: 1} %}",
                                 "{% set a = n.x * 20 %}",
                                 "{% set a = n.l * 2 %}",
                                 "{% set a = range(100) %}",
                                 "{% set a = n.l == n.l + [] %}",
                                 "{% set a = n.l | tojson %}",
                                 "{% set a = n.l | sort %}",
                                 "{% set a = n.x | upper %}",
                                 "{% set a = n.x | list %}",
                                 "{% set a = n.l[::-1] %}",
                                 "{% set a = n.l | map('string') | list %}",
                                 "{% set a = '%s' % n.x %}",
                                 "{% for b in n.x %}{% endfor %}",
                                 "{% set a %}{{ n.x }}{% endset %}",
                                 "{% set a = strftime_now(n.x) %}",
                                 "{{ n.x }}"})
    EXPECT_EQ(rendered(large + "\n" + repeated(500, body), limits),
              "line 2: more than 20000 steps, expected at most 20000")
        << body;
}

TEST(ChatTemplateLimits, FindTextInLinearTime) {
  // n.x has 2^21 letters x, and `half` has half as many before a y. A quadratic search would take 2^41
  // comparisons.
  const std::string source =
      large_values(20) + "{% set half = n.x ~ 'y' %}{% set n.x = n.x ~ n.x %}" +
      "{{ half in n.x }}{{ n.x.replace(half, '') | length }}{{ n.x.split(half) | length }}";
  EXPECT_EQ(rendered(source, {}), "False20971521");
}

TEST(ChatTemplateLimits, CountTheBytesOfValuesThatLive) {
  const Limits limits{.value_bytes = 100'000};
  const std::string error = "line 2: more than 100000 bytes of values, expected at most 100000";
  const std::string large = large_values(10) + "\n";
  for (const std::string body :
       {"{% set n.l = n.l + n.l %}", "{% set n.x = n.x ~ n.x %}", "{% set n.l = n.l + [n.x ~ n.x] %}",
        "{% set n.l = [n.l + [], n.x ~ ''] %}", "{% set n.l = n.l + [n.x.split('x')] %}",
        "{% set n.l = n.l + [n.x.replace('x', 'yy')] %}", "{% set n.l = n.l + [{n.x ~ '': 1}] %}",
        "{% set n.l = n.l + [{n.x ~ '': 1}.keys()] %}", "{% set n.l = n.l + [n.x | string] %}",
        "{% set n.l = n.l + [n.l | join] %}", "{% set n.l = n.l + [loop.index ~ n.x] %}"})
    EXPECT_EQ(rendered(large + repeated(90, body), limits), error) << body;
  // Values that no longer exist do not count: these are 30 MB in all.
  EXPECT_EQ(rendered(large + repeated(500, "{% set a = n.x ~ n.x %}{% set b = n.l + n.l %}"),
                     {.value_bytes = 400'000}),
            "");
}

TEST(ChatTemplateLimits, ShareATextThatIsNamedManyTimes) {
  const Limits limits{.value_bytes = std::size_t{4} << 20U};
  EXPECT_EQ(rendered(large_values(16) + "{% set n.l = [] %}" + repeated(300, "{% set n.l = n.l + [n.x] %}") +
                         "{{ n.l | length }}",
                     limits),
            "300");
  EXPECT_EQ(applied(large_values(20) + "{% set n.l = [] %}" + repeated(300, "{% set n.l = n.l + [n.x] %}") +
                    "\n{{ n.l | length }}"),
            "300");
}

TEST(ChatTemplateLimits, RefuseValuesNestedTooDeep) {
  const std::string error =
      "tokenizer_config.json: chat_template: line 2: values nested more than 100 deep, expected at most 100";
  for (const std::string body : {"{% set n.v = [n.v] %}", "{% set n.v = {'v': n.v} %}",
                                 "{% set n.v = [] + [n.v] %}", "{% set n.v = cycler(n.v, n.v) %}",
                                 "{% set n.v = [n.v] | select %}", "{% set n.v = {'v': n.v}.items() %}"}) {
    std::string loops = body;
    for (int i = 0; i < 6; ++i) loops = repeated(8, loops);
    EXPECT_EQ(applied("{% set n = namespace(v=1) %}\n" + loops), error) << body;
  }
  EXPECT_EQ(
      applied("{% set n = namespace(v=1) %}\n" + repeated(99, "{% set n.v = [n.v] %}") + "{{ 1 in [n.v] }}"),
      "False");
}

TEST(ChatTemplateLimits, EndMacrosThatCallThemselves) {
  const std::string error = "line 2: calls nested too deep, expected at most 600 levels";
  for (const std::string body :
       {"{{ f() }}", "{% set a = [f()] %}", "{% call f() %}{% endcall %}",
        "{% if true %}{{ f() ~ f() }}{% endif %}", "{% for a in [1] %}{{ f() }}{% endfor %}"})
    EXPECT_EQ(rendered("{% macro f() %}\n" + body + "{% endmacro %}{{ f() }}", {}), error) << body;
  EXPECT_EQ(rendered("\n{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}", {}), error);
  EXPECT_EQ(
      rendered("{% macro f(n) %}{{ n }}{% if n > 1 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(9) }}", {}),
      "987654321");
}

// A list that holds one list twice, a hundred deep, would have 2^100 members if each were looked at.
TEST(ChatTemplateLimits, EndWhatLooksAtSharedMembersAgainAndAgain) {
  const Limits limits{.steps = 200'000};
  const std::string deep = "{% set n = namespace(v=[1], w=[1]) %}" +
                           repeated(98, "{% set n.v = [n.v, n.v] %}{% set n.w = [n.w, n.w] %}") + "\n";
  for (const std::string body : {"{{ n.v == n.w }}", "{{ n.v }}", "{{ n.v | tojson }}", "{{ n.v < n.w }}",
                                 "{{ n.v ~ '' }}", "{{ [n.v] | sum(start=[]) | string }}"})
    EXPECT_EQ(rendered(deep + body, limits), "line 2: more than 200000 steps, expected at most 200000")
        << body;
}

TEST(ChatTemplateLimits, FreeTheDeepestValueOnASmallStack) {
  const auto make_and_free = [](void*) -> void* {
    Value value;
    for (int i = 0; i < Limits().depth; ++i)
      value = i % 2 == 0 ? Value(jinja::List{value}, Charge())
                         : Value(jinja::Dictionary{{"value", value}}, Charge());
    return nullptr;
  };
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, std::size_t{256} << 10U), 0);
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, &attributes, make_and_free, nullptr), 0);
  EXPECT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
}

TEST(ChatTemplateLimits, StopAtTheBytesOfOutput) {
  const Limits limits{.output_bytes = 10'000};
  const std::string error = "line 2: more than 10000 bytes of output, expected at most 10000";
  EXPECT_EQ(rendered(large_values(10) + "\n" + repeated(10, "{{ n.x }}"), limits), error);
  EXPECT_EQ(rendered("\n" + repeated(101, std::string(100, 'x')), limits), error);
  EXPECT_EQ(rendered(repeated(100, std::string(100, 'x')), limits).size(), 10'000U);
}

TEST(ChatTemplateLimits, RefuseALongTemplate) {
  EXPECT_EQ(applied(std::string((1U << 20U) + 1, 'x')),
            "tokenizer_config.json: chat_template: 1048577 bytes, expected at most 1048576");
}

TEST(ChatTemplateLimits, KeepMessagesOnOneShortLine) {
  const std::string name(5'000, 'x');
  const std::vector<std::string> sources{"{{ raise_exception('a\\nb') }}",
                                         "{{ raise_exception('" + name + "') }}",
                                         "{{ " + name + "() }}",
                                         "{{ x | " + name + " }}",
                                         "{{ x is " + name + " }}",
                                         "{{ x." + name + "() }}",
                                         "{% " + name + " %}",
                                         "{{ 1 " + name + " }}",
                                         "{{ 9" + std::string(5'000, '9') + " }}",
                                         "{{ \x1B }}",
                                         "{{ '\\\n' }}",
                                         "{% set " + name + ".a = 1 %}"};
  for (const std::string& source : sources) {
    const std::string message = applied(source);
    EXPECT_LT(message.size(), 300U) << message;
    EXPECT_TRUE(std::none_of(message.begin(), message.end(), [](char c) { return c >= 0 && c < ' '; }))
        << message;
  }
}

TEST(ChatTemplateLimits, LeaveRoomForLongConversations) {
  // 2,000 messages of 2,000 letters are about a million tokens.
  const nlohmann::json golden = goldens::read_json("chat.json");
  std::vector<Message> messages;
  for (int i = 0; i < 2'000; ++i)
    messages.push_back({i % 2 == 0 ? "user" : "assistant", std::string(2'000, 'x')});
  for (const auto& [name, texts] : golden["texts"].items()) {
    const nlohmann::json configuration{
        {"bos_token", "<s>"}, {"eos_token", "</s>"}, {"chat_template", goldens::chat_template(name)}};
    const auto tokenizer = Tokenizer::parse(goldens::read("llama3.tokenizer.json"), configuration.dump());
    ASSERT_TRUE(tokenizer);
    const auto text = tokenizer->apply_chat_template(messages);
    EXPECT_TRUE(text) << name << ": " << text.error().message;
  }
}

}  // namespace
}  // namespace draftscope::engine
