"""Write a language model with random weights, small enough for a test: `python tiny_model.py FILE [ascii]`.

With `ascii` the only bytes it knows beside printable ASCII are tab and newline, so that whatever it writes is UTF-8.
Without, it knows all 256, and reads any prompt.
"""

import sys

import gguf
import numpy as np

WIDTH, HEADS, INNER, LAYERS, CONTEXT = 64, 4, 128, 2, 32_768
TEMPLATE = "{% for m in messages %}<{{m.role}}>{{m.content}}\n{% endfor %}<assistant>"
UNKNOWN, CONTROL, BYTE, NORMAL = 2, 3, 6, 1  # types of tokens, as GGUF numbers them


def vocabulary(known_bytes):
    """Tokens with their types: three special ones, bytes, a space and the printable ASCII characters."""
    special = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL)]
    spelled = [(f"<0x{byte:02X}>", BYTE) for byte in known_bytes]
    return [*special, *spelled, *((sign, NORMAL) for sign in ["\u2581", *map(chr, range(33, 127))])]


def tensors(tokens, rng):
    """Random weights under the names of the llama architecture."""

    def matrix(*shape, scale=0.6):
        return (rng.standard_normal(shape) * scale / np.sqrt(shape[-1])).astype(np.float32)

    ones = np.ones(WIDTH, np.float32)
    yield "token_embd.weight", rng.standard_normal((tokens, WIDTH)).astype(np.float32)
    yield "output_norm.weight", ones
    yield "output.weight", matrix(tokens, WIDTH, scale=1.8)
    for layer in range(LAYERS):
        yield f"blk.{layer}.attn_norm.weight", ones
        yield f"blk.{layer}.ffn_norm.weight", ones
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            yield f"blk.{layer}.{name}.weight", matrix(WIDTH, WIDTH)
        for name in ("ffn_gate", "ffn_up"):
            yield f"blk.{layer}.{name}.weight", matrix(INNER, WIDTH)
        yield f"blk.{layer}.ffn_down.weight", matrix(WIDTH, INNER)


def write(path, *, ascii_only):
    """One model, the same each time."""
    names, types = zip(*vocabulary([9, 10] if ascii_only else range(256)), strict=True)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny-random")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(names))
    writer.add_file_type(0)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(names)
    writer.add_token_types(types)
    writer.add_token_scores([-1.0 if kind == NORMAL else 0.0 for kind in types])
    for number, add in enumerate((writer.add_unk_token_id, writer.add_bos_token_id, writer.add_eos_token_id)):
        add(number)
    writer.add_add_bos_token(value=True)
    writer.add_chat_template(TEMPLATE)
    for name, values in tensors(len(names), np.random.default_rng(7)):
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    write(sys.argv[1], ascii_only="ascii" in sys.argv[2:])
