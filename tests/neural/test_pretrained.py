"""Encoders of the package transformers: a tiny one with random weights, made here."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from small_network import NETWORK

from small_parser import fit
from treebp.data.embedded import embedded_treebank
from treebp.neural.inputs import Words
from treebp.parsing.parser import Parser

transformers = pytest.importorskip("transformers", reason="the extra treebp[transformers] is not installed")
TRAIN, DEV = embedded_treebank("train")[:30], embedded_treebank("dev")[:5]


@pytest.fixture
def folder(tmp_path):
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    letters = sorted({letter for sentence in TRAIN for form in sentence.forms for letter in form})
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{letter}" for letter in letters), "the"]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    tokeniser = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokeniser.pre_tokenizer = pre_tokenizers.Whitespace()
    tokeniser.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    )
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokeniser, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )
    fast.save_pretrained(tmp_path / "encoder")
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=40,
    )
    transformers.BertModel(config).save_pretrained(tmp_path / "encoder")
    return tmp_path / "encoder"


def test_a_parser_with_such_an_encoder_needs_no_more_than_its_file(folder, tmp_path):
    config = replace(NETWORK, encoder=str(folder), network_epochs=1, pretrained_rate=1e-3)
    parser = fit(TRAIN, DEV, config=config)
    before = transformers.AutoModel.from_pretrained(folder).embeddings.word_embeddings.weight
    assert (parser.model.scorer.network.encoder.encoder.embeddings.word_embeddings.weight != before).any()
    parser.save(tmp_path / "model")
    shutil.rmtree(folder)
    again = Parser.load(tmp_path / "model")
    for one, other in zip(parser.parse(DEV, threads=1), again.parse(DEV, threads=1), strict=True):
        assert np.array_equal(one.heads, other.heads)
        np.testing.assert_allclose(one.beliefs, other.beliefs, atol=1e-6)


def test_subwords_are_pooled_to_words_in_pieces_if_there_are_many(folder):
    from treebp.neural.pretrained import Pretrained

    encoder = Pretrained.named(0, str(folder)).eval()
    import torch

    forms = ["", "the", "dog", "the"]
    words = Words(np.array([4]), np.zeros((4, 6), np.int64), forms)
    with torch.no_grad():
        states = encoder(torch.zeros(4, 0), words)
        found = encoder._tokeniser.encode(forms[1:], is_pretokenized=True)
        all_states = encoder.encoder(input_ids=torch.tensor([found.ids])).last_hidden_state[0]
        for row in range(4):
            own = [k for k, word in enumerate(found.word_ids) if (0 if word is None else word + 1) == row]
            torch.testing.assert_close(states[row], all_states[own].mean(dim=0))
        many = Words(np.array([61]), np.zeros((61, 6), np.int64), ["", *["dog", "the"] * 30])
        assert encoder(torch.zeros(61, 0), many).abs().sum(dim=1).min() > 0.0


def test_what_could_load_code_of_others_is_dropped(folder):
    from treebp.neural.pretrained import Pretrained

    description = json.loads(Pretrained.named(0, str(folder)).description)
    description["config"] |= {"auto_map": {"AutoModel": "x--y"}, "_attn_implementation": "stranger/kernels"}
    encoder = Pretrained(0, json.dumps(description)).encoder
    assert type(encoder) is transformers.BertModel
    assert encoder.config._attn_implementation == "eager"
    assert not hasattr(encoder.config, "auto_map")
    for change in ({"tokeniser": "{}"}, {"config": {"model_type": "unheard"}}, {"config": None}, {"most": "many"}):
        with pytest.raises(ValueError, match="its encoder cannot be made"):
            Pretrained(0, json.dumps({**description, **change}))


def test_an_encoder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"encoder = .*nowhere' cannot be used: "):
        fit(TRAIN, DEV, config=replace(NETWORK, encoder=str(tmp_path / "nowhere")))
