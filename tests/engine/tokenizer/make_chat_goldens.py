# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the texts of goldens/chat.json: what transformers' apply_chat_template(add_generation_prompt=True) makes of its
conversations with each of its templates. These stand in tests/fuzz/corpus/chat, in the style of each family; "grammar" has
what the others leave out. What a template refuses has the message that it raised.

    python make_chat_goldens.py     (needs the package transformers; the committed texts were made with 5.23)
"""
import json
from pathlib import Path

from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

HERE = Path(__file__).resolve().parent
GOLDEN = HERE / "goldens" / "chat.json"
CORPUS = HERE.parents[1] / "fuzz" / "corpus" / "chat"


def one_line(value):
    return json.dumps(value, ensure_ascii=False)


def main():
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()), bos_token="<s>", eos_token="</s>")
    golden = json.loads(GOLDEN.read_text())

    def text_of(template, messages):
        try:
            return tokenizer.apply_chat_template(messages, chat_template=template, tokenize=False, add_generation_prompt=True)
        except Exception as error:  # what the template raised
            return {"raised": str(error)}

    rows = []
    for name in golden["texts"]:
        template = (CORPUS / name).read_bytes().split(b"\0")[0].decode()
        texts = [text_of(template, messages) for messages in golden["conversations"]]
        rows.append(f"{one_line(name)}: [\n" + ",\n".join(map(one_line, texts)) + "]")
    conversations = ",\n".join(map(one_line, golden["conversations"]))
    GOLDEN.write_text('{"conversations": [\n%s],\n"texts": {\n%s}}\n' % (conversations, ",\n".join(rows)))


if __name__ == "__main__":
    main()
