"""The model's tokenizer: byte-level BPE of about a thousand tokens, with every digit and operator on its own.

Digit by digit is what makes copying numbers learnable for so small a model. The special tokens are those of the
Qwen chat format.
"""

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

from examples.tiny_model.chat import PADDING, TURN_END, system_segment, turn_segments
from examples.tiny_model.demonstrations import demonstration, random_prompt
from examples.tiny_model.tasks import sample_task

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

VOCABULARY_SIZE = 1000
CORPUS_DIALOGUES = 3000
SEED = 0

# Letters and punctuation may take one leading space; digits and operators stand alone.
_PIECES = r" ?\p{L}+|\p{N}|[+\-*,.?]|\s*[\r\n]+| ?[^\s\p{L}\p{N}+\-*,.?]+,?[\r\n]*|\s"

CHAT_TEMPLATE = """\
{%- if messages[0].role == 'system' %}{% set system = messages[0].content %}{% set turns = messages[1:] %}
{%- else %}{% set system = 'You are a helpful assistant. Use the tools.' %}{% set turns = messages %}{% endif %}
{{- '<|im_start|>system\\n' + system }}
{%- if tools %}
{{- '\\n\\n# Tools\\n\\nYou may call one or more functions to assist with the user query.\\n\\n' }}
{{- 'You are provided with function signatures within <tools></tools> XML tags:\\n<tools>' }}
{%- for tool in tools %}{{ '\\n' + (tool | tojson) }}{% endfor %}
{{- '\\n</tools>\\n\\nFor each function call, return a json object with function name and arguments ' }}
{{- 'within <tool_call></tool_call> XML tags:\\n<tool_call>\\n' }}
{{- '{"name": <function-name>, "arguments": <args-json-object>}\\n</tool_call>' }}
{%- endif %}
{{- '<|im_end|>\\n' }}
{%- for message in turns %}
{%- if message.role == 'tool' %}
{%- if loop.first or turns[loop.index0 - 1].role != 'tool' %}{{ '<|im_start|>user' }}{% endif %}
{{- '\\n<tool_response>\\n' + message.content + '\\n</tool_response>' }}
{%- if loop.last or turns[loop.index0 + 1].role != 'tool' %}{{ '<|im_end|>\\n' }}{% endif %}
{%- else %}
{{- '<|im_start|>' + message.role + '\\n' + (message.content or '') }}
{%- for call in message.tool_calls or [] %}
{%- set function = call.function or call %}
{%- if message.content or not loop.first %}{{ '\\n' }}{% endif %}
{{- '<tool_call>\\n{"name": "' + function.name + '", "arguments": ' }}
{{- function.arguments if function.arguments is string else (function.arguments | tojson) }}
{{- '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}
"""


def corpus() -> Iterator[str]:
    """Yield the texts the tokenizer is trained on: dialogues, every fourth with a tool list."""
    rng = random.Random(SEED)
    for index in range(CORPUS_DIALOGUES):
        system, tools, kinds = random_prompt(rng, with_tools=index % 4 == 0)
        yield system_segment(system, tools).text
        for segment in turn_segments(demonstration(rng, sample_task(rng, "train", kinds), 0.1)):
            yield segment.text


def build_tokenizer() -> "PreTrainedTokenizerFast":
    """Train the tokenizer (seconds) and return it with its chat template."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE - 7,
        special_tokens=[],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        min_frequency=5,
        show_progress=False,
    )
    core.train_from_iterator(corpus(), trainer)
    core.add_special_tokens(
        [AddedToken(text, special=True, normalized=False) for text in (PADDING, "<|im_start|>", TURN_END)]
    )
    tags = ("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")
    core.add_tokens([AddedToken(text, special=False, normalized=False) for text in tags])
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        eos_token=TURN_END,
        pad_token=PADDING,
        additional_special_tokens=["<|im_start|>", TURN_END],
        chat_template=CHAT_TEMPLATE,
        model_max_length=2048,
    )
