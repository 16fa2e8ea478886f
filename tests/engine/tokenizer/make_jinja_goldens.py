# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes goldens/jinja.json: what jinja2, set up as Hugging Face sets it up, makes of short templates, each with
the messages below. Those that it refuses have no text.

    python make_jinja_goldens.py     (needs the package jinja2; the committed file was made with 3.1.6)
"""
import json
from pathlib import Path

import jinja2
from jinja2 import ext, nodes, sandbox

MESSAGES = [{"role": "system", "content": "Be <brief>."}, {"role": "user", "content": "One é\n two"},
            {"role": "assistant", "content": ""}, {"role": "user", "content": "three"}]
VARIABLES = {"messages": MESSAGES, "bos_token": "<s>", "tools": None, "flag": False,
             "tool": {"name": "f", "values": [1, 2.5, None, True], "get": {"a": {"b": "c"}}}}

TEMPLATES = r"""
{% if tools %}{{ tools | nothing }}{{ x is nothing }}{{ x.nothing() }}{{ nothing(1) }}{% endif %}ok
{{ messages | map(attribute='role') | map('upper') | join('/') }} {{ messages[0]['content'].upper() }}
{% for m in messages[::-1] %}{{ m.role }},{% endfor %}{{ [1, 2, 3, 4][3:0:-1] | join }}{{ 'abcdé'[::-1] }}{{ 'héllo'[1:3] }}{{ 'héllo'[-1] }}{{ (1, 2, 3)[1:] }}{{ [1, 2][5:] }}{{ 'abc'[-9:9:2] }}
{% for c in 'aé' %}<{{ c }}>{% endfor %}{% for k in tool %}{{ k }};{% endfor %}{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}{% for x in 1, 2 %}{{ x }}{% endfor %}
{% macro box(x, y='d', z=y) %}[{{ x }}{{ y }}{{ z }}{{ varargs }}{{ kwargs }}]{% endmacro %}{{ box('a') }}{{ box('a', y='c') }}{{ box(1, 2, 3, 4, k=5) }}{{ box.name }}{{ box() }}
{% macro a(n) %}{{ n }}{% if n %}{{ a(n - 1) }}{% endif %}{% endmacro %}{{ a(5) }}{% set m = a %}{{ m(1) | length }}{{ a is callable }}
{% macro outer() %}({{ caller('x', y=2) }}){% endmacro %}{% call(p, y, q='z') outer() %}{{ p }}{{ y }}{{ q }}{% endcall %}
{% set v = 1 %}{% macro late() %}{{ v }}{{ w }}{% endmacro %}{% set v = 2 %}{{ late() }}{% set w = 3 %}{{ late() }}{% for w in [9] %}{{ late() }}{% endfor %}
{% for m in messages %}{% generation %}{{ m.role[0] }}{% endgeneration %};{% endfor %}
{% set s %}a{{ messages[3].content }}{% set inside = 1 %}{% endset %}[{{ s }}]{{ inside }}{% set t | upper | replace('A', '-') %}xa{% endset %}{{ t }}{% filter upper | trim %} b {% endfilter %}
{% for m in messages %}{% if loop.index == 4 %}{% break %}{% endif %}{% if m.role == 'user' %}{% continue %}{% endif %}{{ m.content }}{% endfor %}
{% for t in [] %}x{% else %}none{% endfor %}{% for t in [1] %}x{% break %}{% else %}none{% endfor %}{% for t in [1] if t > 1 %}x{% else %}{{ t }}none{% endfor %}
{% for n in [[1, [2, []]], [3, []]] recursive %}{{ n[0] }}{{ loop.depth }}{% if n[1] %}({{ loop([n[1]]) }}){% endif %}{% endfor %}
{% for x in 'aabb' %}{{ loop.cycle('p', 'q') }}{% if loop.changed(x) %}*{% endif %}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.revindex }}{{ loop.length }}{% endfor %}
{% set a, b = 1, 2 %}{% set b, a = a, b %}{{ a }}{{ b }}{% set ns = namespace(x=1) %}{% set ns.x = ns.x + 1 %}{% set ns.y, c = 7, 8 %}{{ ns.x }}{{ ns.y }}{{ c }}{{ ns.z is defined }}
{% with a = 1, b = a %}{{ a }}{{ b is defined }}{% set a = 2 %}{{ a }}{% endwith %}{{ a is defined }}{% block q %}{% set a = 3 %}{{ a }}{% endblock %}{{ a }}{% print 4 %}
{% raw %}{{ x }}{% y %}{% endraw %}|{%- raw -%} {{ z }} {%- endraw -%} |{% raw %}
{{ {% endraw %}
{{ none | default('x', true) }}{{ '' | default('y', boolean=true) }}{{ none | default('n') }}{{ zz | default }}{{ zz.y | default('z') if zz else 'w' }}
{{ {'b': [1, none, 'é<"\n'], 'a': 1.0, 'c': {}, 'd': []} | tojson }}{{ {'b': [1, {}], 'a': {'c': 2}} | tojson(indent=2) }}{{ [1, {'z': 1, 'a': 2}] | tojson(separators=(',', ':'), sort_keys=true) }}{{ 'é🙂' | tojson(ensure_ascii=true) }}{{ (1, true) | tojson }}{{ {1: 2, none: 3, true: 4} | tojson }}
{{ 'ab cd-ef (gh' | title }}{{ "it's ab3c" .title() }}{{ 'X'.lower() }}{{ 'éß' | upper }}{{ 'hELLO wORLD' | capitalize }}{{ 'aBc'.swapcase() }}
{{ 'a,b,c'.split(',', 1)[1] }}{{ ' a  b c '.split() }}{{ ' a  b c '.split(none, 1) }}{{ ' a  b c '.rsplit(none, 1) }}{{ 'a-b-c'.rsplit('-', 1) }}{{ 'a-b' | replace('-', '+') }}{{ 'aaa' | replace('a', 'b', 2) }}{{ 'ab'.replace('', '.') }}
{{ 'a\nb\r\nc'.splitlines() }}{{ 'abc'.find('c') }}{{ 'abc'.rfind('z') }}{{ 'a=b=c'.partition('=') }}{{ 'a=b=c'.rpartition('=') }}{{ 'aXbX'.count('X') }}{{ 'ab'.ljust(4, '.') }}{{ 'ab'.rjust(4) }}{{ '-7'.zfill(4) }}{{ 'ab'.center(5, '*') }}
{{ 'abc'.startswith(('x', 'a')) }}{{ 'abc'.removeprefix('a') }}{{ 'abc'.removesuffix('c') }}{{ '-'.join(['a', 'b']) }}{{ '12'.isdigit() }}{{ 'a1'.isalnum() }}{{ 'a1'.isalpha() }}{{ ' '.isspace() }}{{ 'ab'.islower() }}{{ 'A'.isupper() }}
{{ '\u00e9\x41\103\q\
b' }}{{ 'a' 'b' }}{{ "q\"'" }}
{{ 0.5 }}{{ 1e3 }}{{ 1.5e-7 }}{{ 1e16 }}{{ 123456789.25 }}{{ 1_000 }}{{ 0x1F }}{{ 7 / 2 }}{{ 4 / 2 }}{{ 7 // 2 }}{{ -7 // 2 }}{{ -7 % 3 }}{{ 7.5 // 2 }}{{ -7.5 % 2 }}{{ 2 ** 10 }}{{ 2 ** -1 }}{{ 2 ** 0.5 }}{{ -2 ** 2 }}{{ 1 - -1 }}{{ 10 % 4 * 2 }}{{ true + 1 }}
{{ (1, 2) | length }}{{ 2 in (1, 2) }}{{ (1,) }}{{ () }}{{ 1, 2 }}{{ [1, 'a', "b'", none, true, 1.0, {'k': (1,)}] }}{{ ['é\x00\n\\'] }}{{ {'a': {'b': []}} }}
{{ 1 < 2 < 3 }}{{ 1 < 3 < 2 }}{{ 1 == 1.0 }}{{ [1, 2] == [1, 2] }}{{ (1,) == [1] }}{{ {'a': 1} == {'a': 1.0} }}{{ 'a' < 'b' }}{{ [1, 2] < [1, 3] }}{{ none == false }}{{ 1 != '1' }}{{ 'a' in {'a': 1} }}{{ 'x' not in 'abc' }}
{{ {'a': 1} == {'a': 2} }}{{ {'a': {'b': [1]}} == {'a': {'b': [2]}} }}{% for m in messages %}{% if m == messages[-1] %}{{ loop.index }}{% endif %}{% endfor %}{{ messages[1] in messages[2:] }}
{{ '0x10' | int(0, 16) }}{{ '-0b11' | int(base=2) }}{{ '1_0' | int }}{{ '_1' | int }}{{ '0x' | int(4, 16) }}{{ '0x1' | int }}{{ '+7' | int }}
{{ 'a' * 3 }}{{ [1] * 2 }}{{ 3 * 'b' }}{{ [1] + [2] }}{{ (1,) + (2,) }}{{ 1 ~ 'a' ~ none ~ [1] ~ zz }}{{ 1 ~ 2 + 3 }}
{{ [3, 1, 2] | sort }}{{ ['b', 'A', 'c'] | sort }}{{ ['b', 'A'] | sort(case_sensitive=true) }}{{ [1, 2] | sort(reverse=true) }}{{ messages | sort(attribute='content') | map(attribute='role') | list }}{{ messages | sort(attribute='role,content') | map(attribute='content') | list }}
{{ {'b': 1, 'A': 2} | dictsort }}{{ {'b': 1, 'a': 2} | dictsort(by='value', reverse=true) }}{% for k, v in tool | items %}{{ k }}={{ v }};{% endfor %}{{ tool.items() }}{{ tool.keys() }}{{ tool['values'] }}{{ tool.get('name') }}{{ tool['get']['a'].b }}{{ tool.get('q', 'r') }}{{ tool.values() | list }}
{% for g in messages | groupby('role') %}{{ g.grouper }}:{{ g.list | length }};{% endfor %}{% for role, list in messages | groupby('role') %}{{ role }}{% endfor %}
{{ messages | selectattr('role', 'equalto', 'user') | list | length }}{{ messages | selectattr('content') | map(attribute='content') | list }}{{ messages | rejectattr('role', 'in', ['user', 'system']) | map(attribute='role') | first }}{{ [1, 2, 3] | select('odd') | list }}{{ [1, 2, 3] | reject('gt', 1) | list }}{{ [0, 1] | select | list }}
{{ [1, 1, 2] | unique | list }}{{ ['a', 'A', 'b'] | unique | list }}{{ [1, 2, 3] | sum }}{{ [{'a': 1}, {'a': 2}] | sum(attribute='a', start=10) }}{{ [3, 1] | min }}{{ ['b', 'C'] | max }}{{ [] | min }}{{ [1, 2, 3] | batch(2, 'x') | list }}{{ [1, 2, 3, 4, 5] | slice(2) | list }}{{ [1, 2] | reverse | list }}{{ 'ab' | reverse }}
{{ [1, 2] | first }}{{ [1, 2] | last }}{{ [] | first }}{{ 'ab' | list }}{{ {'a': 1} | list }}{{ [[1, 2], [3]] | map('length') | list }}{{ [{'a': 1}, {}] | map(attribute='a', default='d') | list }}{{ ['a', 'b'] | map('replace', 'a', 'x') | join(', ') }}{{ messages | join('|', attribute='role') }}
{% set g = messages | map(attribute='role') %}{{ g | list | length }}{{ g | list | length }}{% if [] | select %}true{% endif %}{{ none | select | default('lazy') is defined }}
{{ '42' | int }}{{ '4.7' | int }}{{ 'x' | int(5) }}{{ '0x1f' | int(base=16) if false }}{{ 'ff' | int(base=16) }}{{ 3.9 | int }}{{ '1.5' | float }}{{ 'q' | float }}{{ 3 | float }}{{ -3 | abs }}{{ 2.5 | round }}{{ 2.675 | round(2) }}{{ 2.1 | round(0, 'ceil') }}{{ 2.19 | round(1, 'floor') }}{{ 5 | round }}
{{ 'a\nb\n\nc' | indent }}|{{ 'a\nb' | indent(2, true) }}|{{ 'a\n\nb' | indent('>', blank=true) }}|{{ 'ab' | center(6) }}|{{ 'a b-c d' | wordcount }}|{{ 'aaa bbb ccc dddddddd' | wordwrap(7) }}|{{ 'foo bar baz qux' | truncate(9) }}|{{ 'foo bar baz qux' | truncate(9, true, leeway=0) }}
{{ '<a href="x">b &amp; c</a>  d' | striptags }}{{ 'a b/ü?&' | urlencode }}{{ {'a b': 'c/d', 'e': 1} | urlencode }}{{ '<&">\'' | escape }}{{ '<' | e + '<' }}{{ '<' | safe + '>' }}{{ '<' ~ ('<' | escape) }}{{ ('<' | safe) | escape }}{{ '<' | safe | forceescape }}{{ {'class': 'a b', 'n': none, 'i': 1} | xmlattr }}
{{ 1 | filesizeformat }}{{ 999 | filesizeformat }}{{ 1500 | filesizeformat }}{{ 1500000 | filesizeformat(true) }}{{ [1, 'a'] | pprint }}{{ 'abc' | string | length }}{{ ' xx ' | trim }}{{ 'xax' | trim('x') }}{{ tool | attr('get') is callable }}{{ tool | attr('name') is defined }}
{{ '%s-%05.1f|%-4d|%+d|%x|%%' | format('a', 2.25, 7, 3, 255) }}{{ '%(a)s' | format(a=1) }}{{ '%s %r' % ('a', 'b') }}{{ '%d' % 3 }}{{ '{} {1:>4}|{a!r:<4}|{0:^5}|{2:05.2f}|{3:,}'.format('x', 2, 3.14159, 1234567, a='q') if false }}{{ '{0} {1:>4}|{a!r:<4}|{0:^5}|{2:05.2f}|{3:,}{{}}'.format('x', 2, 3.14159, 1234567, a='q') }}{{ '{}{}'.format(1, true) }}
{{ 1 is odd }}{{ 2 is even }}{{ 6 is divisibleby 3 }}{{ 6 is divisibleby(4) }}{{ 1 is integer }}{{ true is integer }}{{ 1.0 is float }}{{ true is boolean }}{{ 'a' is string }}{{ [] is sequence }}{{ tool is mapping }}{{ 'a' is iterable }}{{ none is none }}{{ 'A' is upper }}{{ 'a' is lower }}{{ 1 is eq 1 }}{{ 1 is sameas 1 }}{{ 1 is in [1] }}{{ 2 is gt 1 }}{{ zz is undefined }}{{ 'upper' is filter }}{{ 'odd' is test }}{{ range is callable }}{{ 1 is not none }}{{ 'x' is escaped }}{{ false is false }}
{{ range(5) | list }}{{ range(1, 10, 3) | list }}{{ range(3, 0, -1) | list }}{{ range(3) }}{{ range(2)[1] }}{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current is defined }}{% set j = joiner('|') %}{{ j() }}{{ j() }}{{ dict(a=1, b=2) }}{{ dict([('x', 1)], y=2) }}
{{ messages.0.role }}{{ tool.values | length if false }}{{ messages[9] is defined }}{{ tool.zip is defined }}{{ (messages | first).role }}{{ messages[1:3] | length }}{{ messages[-1]['role'] }}{{ 'abc'['upper']() }}{{ tool.get.a is defined }}{{ {1: 'i', (1, 2): 't'}[(1, 2)] }}{{ [1, 2].index(2) }}{{ [1, 1].count(1) }}{{ tool.copy().name }}
{{ 'a' if true }}{{ 'b' if false }}{{ 'c' if false else 'd' if false else 'e' }}{{ not true }}{{ not not 1 }}{{ 1 and 0 or 'x' }}{{ '' or none }}{{ -1 | abs }}{{ 'a' ~ 'b' | upper }}{{ (1 + 2) * 3 }}{{ true and not false }}{{ [1, 2,] }}{{ {'a': 1,} }}
{{ 'x'.append(1) }}
{{ [1].append(2) }}
{% set l = [] %}{{ l.append is defined }}{{ {}.update is defined }}
{{ zz.y }}
{{ zz + 1 }}
{{ none | length }}
{% for x in none %}{% endfor %}
{{ 1 // 0 }}
{{ 'a' + 1 }}
{{ 'a' < 1 }}
{{ 'q' | nothing }}
{{ 1 is nothing }}
{{ zz() }}
{{ tool.name() }}
{% if x is defined if y %}{% endif %}
{% nothing %}
{{ range(200000) }}
{% include 'x' %}
{{ raise_exception('why') }}
{{ messages | map('nothing') | list }}
{{ {[1]: 2} }}
{{ (x for x in y) }}
{{ 1 if 2 else }}
{{ {'a': zz} | tojson }}
{% macro f(a) %}{% endmacro %}{{ f(1, a=2) }}
{% for a, b in [[1]] %}{% endfor %}
"""


class Generation(ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.TemplateError(message)


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def main():
    environment = sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                        extensions=[Generation, ext.loopcontrols])
    environment.filters["tojson"] = to_json
    environment.globals["raise_exception"] = raise_exception
    sources = []
    for line in TEMPLATES.strip("\n").split("\n"):
        # A line that continues the template before it does not begin with a tag or a text of one.
        if sources and (sources[-1].endswith("\\") or sources[-1].endswith("{% raw %}")):
            sources[-1] += "\n" + line
        else:
            sources.append(line)
    cases = []
    for source in sources:
        case = {"template": source}
        try:
            case["text"] = environment.from_string(source).render(**VARIABLES)
        except Exception:  # a refusal, whose words are jinja2's own
            pass
        cases.append(case)
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    text = '{"variables": %s,\n"cases": [\n%s\n]}\n' % (json.dumps(VARIABLES, ensure_ascii=False), lines)
    (Path(__file__).resolve().parent / "goldens" / "jinja.json").write_text(text)


if __name__ == "__main__":
    main()
