"""The unchanged `openai` Python package against the real binary with the bundled model."""
import json
import subprocess

import openai
import pytest
from conftest import SAMPLE, ffmpeg
from serve_tools import Server, data_url, image, text


@pytest.fixture(scope="module")
def server():
    running = Server()
    yield running
    assert running.stop() == 0, running.log


@pytest.fixture(scope="module")
def client(server):
    return openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    for colour in ("red", "blue"):
        ffmpeg("-f", "lavfi", "-i", f"color={colour}:s=192x192:d=1", "-frames:v", "1", folder / f"{colour}.png")
    return folder


@pytest.fixture(scope="module")
def speech(tmp_path_factory):
    path = tmp_path_factory.mktemp("speech") / "said.wav"
    subprocess.run(["espeak-ng", "-w", path, "Please read the number on the second sign."], check=True)
    return path


@pytest.fixture(scope="module")
def model(client):
    return client.models.list().data[0].id


def ask(client, model, content, **fields):
    return client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": content}], max_tokens=24, **fields)


def test_models_are_listed_and_found(client, model):
    assert client.models.retrieve(model).id == model
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("another")


def test_a_picture_is_answered(client, model, pictures):
    done = ask(client, model, [image(data_url(pictures / "red.png")), text("What do you see?")])
    choice = done.choices[0]
    assert choice.message.role == "assistant" and choice.message.content.strip()
    assert choice.finish_reason in ("stop", "length")
    assert done.usage.prompt_tokens > 36 and done.usage.completion_tokens > 0
    assert done.usage.total_tokens == done.usage.prompt_tokens + done.usage.completion_tokens


def test_streamed_and_whole_answers_are_the_same(client, model, pictures):
    content = [image(data_url(pictures / "blue.png")), text("What do you see?")]
    whole = ask(client, model, content).choices[0]
    chunks = list(ask(client, model, content, stream=True, stream_options={"include_usage": True}))
    assert chunks[0].choices[0].delta.role == "assistant"
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == whole.message.content
    # sgl-project/sglang#3912, vllm#27572: null until the last, then one legal value
    reasons = [c.choices[0].finish_reason for c in chunks if c.choices]
    assert reasons[:-1] == [None] * (len(reasons) - 1) and reasons[-1] == whole.finish_reason
    assert not chunks[-1].choices and chunks[-1].usage.completion_tokens > 0


def test_another_picture_never_gets_the_old_answer(client, model, pictures):
    def answer(name):
        return ask(client, model, [image(data_url(pictures / name)), text("What do you see?")]
                   ).choices[0].message.content
    first = {name: answer(name) for name in ("red.png", "blue.png")}
    assert first["red.png"] != first["blue.png"], first
    assert {name: answer(name) for name in ("red.png", "blue.png")} == first


def test_order_of_pictures_matters(client, model, pictures):
    red, blue = (image(data_url(pictures / name)) for name in ("red.png", "blue.png"))
    for order in ([red, blue], [blue, red]):
        done = ask(client, model, [text("First:"), order[0], text("second:"), order[1], text("What do you see?")])
        assert done.choices[0].message.content.strip()


def test_a_conversation_over_several_turns(client, model, pictures):
    messages = [{"role": "system", "content": "Be short."},
                {"role": "user", "content": [image(data_url(pictures / "red.png")), text("What do you see?")]}]
    for _ in range(3):
        done = client.chat.completions.create(model=model, messages=messages, max_tokens=16)
        messages += [{"role": "assistant", "content": done.choices[0].message.content},
                     {"role": "user", "content": "And what else?"}]
    assert done.choices[0].message.content is not None


def test_limits_stops_seeds_and_choices(client, model, pictures):
    content = [image(data_url(pictures / "red.png")), text("What do you see?")]
    short = ask(client, model, content, max_completion_tokens=2)
    assert short.choices[0].finish_reason == "length" and short.usage.completion_tokens == 2
    whole = ask(client, model, content).choices[0].message.content
    word = whole.split()[1]
    cut = ask(client, model, content, stop=[word]).choices[0]
    assert word not in cut.message.content and cut.finish_reason == "stop"
    warm = dict(temperature=2.0, n=3, seed=5)
    one, two = (ask(client, model, content, **warm) for _ in range(2))
    assert [c.message.content for c in one.choices] == [c.message.content for c in two.choices]
    assert [c.index for c in one.choices] == [0, 1, 2]


def test_logprobs_belong_to_the_tokens(client, model, pictures):
    done = ask(client, model, [image(data_url(pictures / "red.png")), text("What do you see?")], logprobs=True)
    tokens = done.choices[0].logprobs.content
    assert len(tokens) >= done.usage.completion_tokens and all(t.logprob <= 0 for t in tokens)
    joined = b"".join(bytes(t.bytes) for t in tokens).decode().strip()
    assert joined.startswith(done.choices[0].message.content.strip()[:20])


def test_top_logprobs_are_the_best_and_hold_the_greedy_choice(client, model, pictures):
    done = ask(client, model, [image(data_url(pictures / "red.png")), text("What do you see?")], logprobs=True,
               top_logprobs=5)
    for token in done.choices[0].logprobs.content:
        top = [other.logprob for other in token.top_logprobs]
        assert len(top) == 5 and top == sorted(top, reverse=True)
        assert token.top_logprobs[0].bytes == token.bytes and abs(top[0] - token.logprob) < 1e-4


def test_a_video_is_answered(client, model, tmp_path):
    clip = tmp_path / "clip.mp4"
    ffmpeg("-ss", "2", "-t", "3", "-i", SAMPLE, "-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", clip)
    part = {"type": "video_url", "video_url": {"url": data_url(clip, "video/mp4"), "pictures_max": 3}}
    assert ask(client, model, [part, text("What do you see?")]).choices[0].message.content.strip()


def test_sound_goes_into_the_question(client, model, speech):
    part = {"type": "input_audio", "input_audio": {"data": data_url(speech, "audio/wav"), "format": "mp3"}}
    done = ask(client, model, [part, text("What was said?")])
    assert done.choices[0].message.content is not None and done.usage.prompt_tokens > 20


@pytest.mark.parametrize("form", ["json", "text", "srt", "vtt", "verbose_json"])
def test_transcription_in_every_format(client, model, speech, form):
    with open(speech, "rb") as file:
        done = client.audio.transcriptions.create(
            model=model, file=file, response_format=form,
            **({"timestamp_granularities": ["word", "segment"]} if form == "verbose_json" else {}))
    said = done if isinstance(done, str) else done.text
    assert "second sign" in said.lower(), said
    if form == "srt":
        assert said.startswith("1\n00:00:0") and "," in said.split("\n")[1]
    if form == "vtt":
        assert said.startswith("WEBVTT")
    if form == "verbose_json":
        starts = [word.start for word in done.words]
        assert starts == sorted(starts) and done.segments[0].end > 1 and done.duration > 1


# vllm-project/vllm#35109: m4a, mp4 and WebM end in 500
@pytest.mark.parametrize("name,codec", [("a.m4a", ["-c:a", "aac"]), ("a.webm", ["-c:a", "libopus"]),
                                        ("a.ogg", ["-c:a", "libopus"]), ("a.mp3", ["-c:a", "libmp3lame"])])
def test_transcription_of_phone_formats(client, model, speech, tmp_path, name, codec):
    ffmpeg("-i", speech, *codec, tmp_path / name)
    with open(tmp_path / name, "rb") as file:
        assert "second sign" in client.audio.transcriptions.create(model=model, file=file).text.lower()


def test_errors_arrive_as_the_packages_own_classes(client, model):
    with pytest.raises(openai.BadRequestError) as bad:
        ask(client, model, "hi", temperature=99)
    assert bad.value.param == "temperature" and bad.value.type == "invalid_request_error"
    with pytest.raises(openai.NotFoundError):
        ask(client, "gpt-4o", "hi")
    with pytest.raises(openai.BadRequestError) as broken:
        ask(client, model, [image("data:image/png;base64,AAAA"), text("?")])
    assert broken.value.param == "messages[0].content[0]"


# ggml-org/llama.cpp#15780, ollama#7484: refused with counts, before any medium is looked at
def test_context_overflow_is_refused_with_counts(client, model, pictures):
    for content in ("word " * 8000, [image(data_url(pictures / "red.png"))] * 60 + [text("?")]):
        with pytest.raises(openai.BadRequestError) as full:
            ask(client, model, content)
        error = json.loads(full.value.response.text)["error"]
        assert error["code"] == "exceed_context_size_error"
        assert error["n_prompt_tokens"] >= error["n_ctx"] > 0


def test_tokens_are_counted_as_the_model_counts(server):
    status, _, counted = server.request("POST", "/tokenize", {"content": "a red circle"})
    assert status == 200 and counted["count"] == len(counted["tokens"]) > 0


# --- responses ---------------------------------------------------------------------------------------------

def test_a_response_answers_text_and_pictures_as_a_chat_does(client, model, pictures):
    asked = [image(data_url(pictures / "red.png")), text("What do you see?")]
    chat = ask(client, model, asked, temperature=0).choices[0].message.content
    parts = [{"type": "input_image", "image_url": data_url(pictures / "red.png"), "detail": "auto"},
             {"type": "input_text", "text": "What do you see?"}]
    done = client.responses.create(model=model, max_output_tokens=24, temperature=0,
                                   input=[{"role": "user", "content": parts}])
    assert done.output_text == chat and done.status in ("completed", "incomplete")
    assert done.object == "response" and done.id.startswith("resp_") and done.output[0].role == "assistant"
    usage = done.usage
    assert usage.input_tokens > 36 and usage.total_tokens == usage.input_tokens + usage.output_tokens
    short = client.responses.create(model=model, input="Tell me a story.", max_output_tokens=1,
                                    instructions="Be brief.")
    assert short.status == "incomplete" and short.incomplete_details.reason == "max_output_tokens"
    assert short.instructions == "Be brief." and short.max_output_tokens == 1


def test_a_streamed_response_has_the_events_of_the_official_client(client, model, pictures):
    asked = {"model": model, "temperature": 0, "max_output_tokens": 400, "input": [{"role": "user", "content": [
        {"type": "input_image", "image_url": data_url(pictures / "blue.png"), "detail": "auto"},
        {"type": "input_text", "text": "What do you see?"}]}]}
    whole = client.responses.create(**asked)
    events = list(client.responses.create(**asked, stream=True))
    assert [e.sequence_number for e in events] == list(range(len(events)))
    kinds = [e.type for e in events]
    assert kinds[:4] == ["response.created", "response.in_progress", "response.output_item.added",
                         "response.content_part.added"]
    assert kinds[-4:-1] == ["response.output_text.done", "response.content_part.done", "response.output_item.done"]
    said = "".join(e.delta for e in events if e.type == "response.output_text.delta")
    assert said == whole.output_text == events[-1].response.output_text
    assert events[-1].type == f"response.{whole.status}" and events[-1].response.usage.output_tokens > 0
    with client.responses.stream(**asked) as stream:
        assert stream.get_final_response().output_text == whole.output_text


@pytest.mark.parametrize("fields,param", [
    ({"previous_response_id": "resp_1"}, "previous_response_id"), ({"store": True}, "store"),
    ({"tools": [{"type": "web_search"}]}, "tools"), ({"input": []}, "input"), ({"model": "another"}, "model")])
def test_what_a_response_cannot_do_is_refused_by_name(client, model, fields, param):
    with pytest.raises(openai.APIStatusError) as refused:
        client.responses.create(**{"model": model, "input": "hi", **fields})
    assert refused.value.status_code in (400, 404) and refused.value.param == param
