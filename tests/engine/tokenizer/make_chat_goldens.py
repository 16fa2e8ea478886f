# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes goldens/chat.json: what transformers' apply_chat_template(add_generation_prompt=True) makes of chat
templates in the style of each family, for several conversations.

    python make_chat_goldens.py     (needs the package transformers; the committed file was made with 5.23)
"""
import json
from pathlib import Path

from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

HERE = Path(__file__).resolve().parent

LLAMA2 = """{% if messages[0]['role'] == 'system' %}{% set rest = messages[1:] %}{% set opening = messages[0]['content'] %}\
{% else %}{% set rest = messages %}{% set opening = false %}{% endif %}{% for message in rest %}\
{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate: user, assistant, user') }}{% endif %}\
{% if loop.index0 == 0 and opening != false %}{% set content = '<<SYS>>\\n' + opening + '\\n<</SYS>>\\n\\n' + message['content'] %}\
{% else %}{% set content = message['content'] %}{% endif %}{% if message['role'] == 'user' %}\
{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% elif message['role'] == 'assistant' %}\
{{ ' ' + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"""

LLAMA3 = """{% set turns = messages %}{% for message in turns %}{% set content = '<|start_header_id|>' + message['role'] \
+ '<|end_header_id|>\n\n' + message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}\
{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}\
{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"""

# With the parts for tools that are parsed and not taken.
LLAMA31 = """{{- bos_token }}
{%- if custom_tools is defined %}
    {%- set tools = custom_tools %}
{%- endif %}
{%- if not date_string is defined %}
    {%- set date_string = "26 Jul 2024" %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}

{#- The first message may be the system's. #}
{%- if messages[0]['role'] == 'system' %}
    {%- set opening = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set opening = "" %}
{%- endif %}

{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if tools is not none %}
    {{- "Environment: ipython\\n" }}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
{%- endif %}
{{- "Cutting Knowledge Date: December 2023\\n" }}
{{- "Today Date: " + date_string + "\\n\\n" }}
{{- opening }}
{{- "<|eot_id|>" }}

{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("One tool at a time") }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {%- for arg_name, arg_val in tool_call.arguments | items %}
            {{- arg_name + '="' + arg_val + '"' }}
            {%- if not loop.last %}
                {{- ", " }}
            {%- endif %}
        {%- endfor %}
    {%- elif message.role == "tool" or message.role == "ipython" %}
        {%- if message.content is mapping or message.content is iterable %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""

CHATML = """{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}\
{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"""

CHATML_DEFAULT_SYSTEM = """{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}\
{{ '<|im_start|>system\nYou answer in one sentence.<|im_end|>\n' }}{% endif %}\
{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}\
{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"""

YI = """{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}\
{% if messages[0]['role'] == 'system' %}{% set opening = messages[0]['content'] %}{% endif %}\
{% if opening is defined %}{{ opening }}{% endif %}{% for message in messages %}{% set content = message['content'] %}\
{% if message['role'] == 'user' %}{{ '<|im_start|>user\\n' + content + '<|im_end|>\\n<|im_start|>assistant\\n' }}\
{% elif message['role'] == 'assistant' %}{{ content + '<|im_end|>' + '\\n' }}{% endif %}{% endfor %}"""

MISTRAL = """{{ bos_token }}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}\
{{ raise_exception('Roles must alternate: user, assistant, user') }}{% endif %}{% if message['role'] == 'user' %}\
{{ '[INST] ' + message['content'] + ' [/INST]' }}{% elif message['role'] == 'assistant' %}\
{{ message['content'] + eos_token}}{% else %}{{ raise_exception('Only user and assistant may speak') }}{% endif %}{% endfor %}"""

MISTRAL_V3 = """{%- if messages[0]["role"] == "system" %}
    {%- set opening = messages[0]["content"] %}
    {%- set turns = messages[1:] %}
{%- else %}
    {%- set turns = messages %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}
{%- set asked = turns | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace() %}
{%- set ns.index = 0 %}
{%- for message in turns %}
    {%- if not (message.role == "tool" or message.role == "tool_results" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
            {{- raise_exception("After the optional system message, roles must alternate") }}
        {%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in turns %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == asked[-1]) %}
            {{- "[AVAILABLE_TOOLS] [" }}
        {%- endif %}
        {%- if loop.last and opening is defined %}
            {{- "[INST] " + opening + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST] " + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token}}
    {%- else %}
        {{- raise_exception("Only user and assistant may speak, with a system message first") }}
    {%- endif %}
{%- endfor %}
"""

ZEPHYR = """{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>\n' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>\n' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>\n'  + message['content'] + eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}"""

DEEPSEEK_CODER = """{% if not add_generation_prompt is defined %}
{% set add_generation_prompt = false %}
{% endif %}
{%- set ns = namespace(found=false) -%}
{%- for message in messages -%}
    {%- if message['role'] == 'system' -%}
        {%- set ns.found = true -%}
    {%- endif -%}
{%- endfor -%}
{{bos_token}}{%- if not ns.found -%}
{{'You write programs and nothing else.\\n'}}
{%- endif %}
{%- for message in messages %}
    {%- if message['role'] == 'system' %}
{{ message['content'] }}
    {%- else %}
        {%- if message['role'] == 'user' %}
{{'### Instruction:\\n' + message['content'] + '\\n'}}
        {%- else %}
{{'### Response:\\n' + message['content'] + '\\n<|EOT|>\\n'}}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{% if add_generation_prompt %}
{{'### Response:'}}
{% endif %}
"""

# What the others leave out: white-space control in all combinations, precedence, loops and tests.
GRAMMAR = """  {% set a = 1 %}  x
  {%+ set b = 2 %}  y {%- set c = 3 -%}

  z{# note #}
{# line -#}

 w{{- ' v ' -}}   u
{%- for m in messages if m.role != 'system' %} {{ loop.index }}/{{ loop.length }}:{{ loop.revindex0 }}{{ loop.first }}\
{{ loop.previtem is defined }}{{ (loop.nextitem.role if loop.nextitem is defined else 'end') }};{%+ endfor +%}
{{ 5 ~ 2 * 3 }}{{ 1 + 2 * 3 }}|{{ 'a' ~ 1 + 2 if false else 'b' }}|{{ -7 // 2 }}|{{ -7 % 3 }}|{{ 7 - 2 - 1 }}
{{ not true or true and not false }}|{{ 'x' in 'axb' }}|{{ 'x' not in ['x', 'y'] }}|{{ 2 in [1, 2] }}|{{ none }}|{{ missing }}|{{ true }}
{{ [1, 2, 3][-1] }}|{{ [1, 2, 3][:-1] | length }}|{{ {'k': 'v'}.k }}|{{ {'k': 'v'}['k'] }}|{{ {'a': 1}.get('b', 'no') }}|{{ 'é' | length }}
{{ ' \\t\\'q" ' | trim }}|{{ 'xxaxx'.strip('x') }}|{{ 'a,b'.split(',')[1] }}|{{ ['a', 'b'] | join('-') }}
{{ 'abc'.startswith('ab') and 'abc'.endswith('bc') }}|{{ 'aXbX'.replace('X', 'yy') }}|{{ missing | default('d') }}|{{ 1 is number and 'a' is string }}
{% set s = namespace(n=0) %}{% for i in [1, 2, 3] %}{% set s.n = s.n + i %}{% set a = 9 %}{% endfor %}{{ s.n }}{{ a }}
{% for k, v in {'p': 'q', 'r': 's'}.items() %}{{ k }}={{ v }}{% if not loop.last %},{% endif %}{% endfor %} {{ 3 <= 3 }}{{ '1' == 1 }}{{ 1 == true }}
"""

TEMPLATES = {"llama2": LLAMA2, "llama3": LLAMA3, "llama31": LLAMA31, "chatml": CHATML,
             "chatml_default_system": CHATML_DEFAULT_SYSTEM, "yi": YI, "mistral": MISTRAL, "mistral_v3": MISTRAL_V3,
             "zephyr": ZEPHYR, "deepseek_coder": DEEPSEEK_CODER,
             "grammar": GRAMMAR}
CONVERSATIONS = [
    [("user", "Hello!")],
    [("system", "Be brief."), ("user", "  What is τ?\n")],
    [("user", "One"), ("assistant", " Two \n"), ("user", "\tThree\u00a0\x1f")],
    [("system", " You are\nterse. "), ("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d"), ("user", "e 🙂")],
    [("user", "{{ bos_token }} {% raw %} <|im_end|>")],
    [("user", "twice"), ("user", "in a row")],
    [("assistant", "first")],
    [("user", "")],
]


def main():
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()), bos_token="<s>", eos_token="</s>")
    cases = []
    for name, template in TEMPLATES.items():
        for conversation in CONVERSATIONS:
            messages = [{"role": role, "content": content} for role, content in conversation]
            case = {"name": name, "messages": messages}
            try:
                case["text"] = tokenizer.apply_chat_template(messages, chat_template=template, tokenize=False,
                                                             add_generation_prompt=True)
            except Exception as error:  # what the template raised
                case["raised"] = str(error)
            cases.append(case)
    value = {"templates": TEMPLATES, "cases": cases}
    (HERE / "goldens" / "chat.json").write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
