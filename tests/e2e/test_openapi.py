"""api/openapi.json against the server: the same routes, the same fields, the same ranges."""
import json
import re

import pytest
from conftest import ROOT, SAMPLE
from serve_tools import Server

API = json.loads((ROOT / "api/openapi.json").read_text())
SCHEMAS = API["components"]["schemas"]
OWN_PAGES = {"/", "/assets/{name}"}  # of the console


@pytest.fixture(scope="module")
def server():
    running = Server("--media-path", SAMPLE.parent, "--senses", "see", "--streams-max", 16)
    yield running
    assert running.stop() == 0, running.log


def operations():
    for path, item in API["paths"].items():
        for method in item.keys() & {"get", "post", "patch", "delete"}:
            yield method.upper(), path, item[method]


def test_the_document_and_the_router_name_the_same_routes():
    table = re.findall(r'Route\{RouteId::\w+, "(\w+)", "([^"]+)"', (ROOT / "src/transport/route.cpp").read_text())
    routed = {(method, path.replace("{name}", "{id}")) for method, path in table if path not in OWN_PAGES}
    assert routed == {(method, path) for method, path, _ in operations()}


def test_references_and_ids_are_sound():
    text = json.dumps(API)
    assert set(re.findall(r'"#/components/schemas/(\w+)"', text)) == set(SCHEMAS)
    ids = [operation["operationId"] for _, _, operation in operations()]
    assert len(ids) == len(set(ids))
    version = re.search(r"VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text().split("project(")[1])[1]
    assert API["info"]["version"] == version


def resolve(schema):
    return SCHEMAS[schema["$ref"].split("/")[-1]] if "$ref" in schema else schema


def fits(value, schema):
    """Whether a value is what the document says; only the keywords that it uses."""
    schema = resolve(schema)
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        return False
    if "oneOf" in schema:
        return any(fits(value, one) for one in schema["oneOf"])
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float),
             "null": type(None)}
    wanted = schema.get("type", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    if wanted and not any(isinstance(value, kinds[kind]) for kind in wanted):
        return False
    if isinstance(value, dict):
        return (all(key in value for key in schema.get("required", [])) and
                all(fits(value[key], one) for key, one in schema.get("properties", {}).items() if key in value))
    return not isinstance(value, list) or all(fits(one, schema.get("items", {})) for one in value)


BASES = {
    "ChatRequest": ("POST", "/v1/chat/completions",
                    {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 1, "logprobs": True}),
    "ResponseRequest": ("POST", "/v1/responses", {"input": "hi", "max_output_tokens": 1}),
    "StreamRequest": ("POST", "/v1/streams", {"source": f"file:///{SAMPLE.name}", "senses": ["see"]}),
}


def beyond(schema):
    """Values just outside of the range."""
    step = 1 if schema["type"] == "integer" else 0.005
    return [schema["minimum"] - step] * ("minimum" in schema) + [schema["maximum"] + step] * ("maximum" in schema)


def bounded(name):
    return [(name, key) for key, one in SCHEMAS[name]["properties"].items() if "minimum" in one or "maximum" in one]


@pytest.mark.parametrize("name,key", [pair for name in BASES for pair in bounded(name)])
def test_ranges_are_the_servers(server, name, key):
    method, path, base = BASES[name]
    schema = SCHEMAS[name]["properties"][key]
    for value in beyond(schema):
        status, _, reply = server.request(method, path, {**base, key: value})
        assert status == 400 and reply["error"]["param"] == key, (value, reply)
    for value in (schema["minimum"], schema["maximum"]):
        status, _, reply = server.request(method, path, {**base, key: value})
        assert status in (200, 201) or reply["error"]["param"] != key, (value, reply)
        if name == "StreamRequest" and status == 201:
            assert server.request("DELETE", "/v1/streams/" + reply["id"])[0] == 200


def test_replies_are_what_the_document_says(server):
    made = server.request("POST", "/v1/streams", {"source": f"file:///{SAMPLE.name}", "senses": ["see"], "id": "one",
                                                  "prompts": ["What do you see?"]})
    assert made[0] == 201 and fits(made[2], SCHEMAS["Stream"]), made
    for method, path, body in (
            ("GET", "/v1/streams", None), ("GET", "/v1/streams/{id}", None),
            ("PATCH", "/v1/streams/{id}", {"slo_ms": 9}), ("GET", "/v1/models", None),
            ("POST", "/v1/chat/completions", BASES["ChatRequest"][2]),
            ("POST", "/v1/responses", BASES["ResponseRequest"][2]), ("POST", "/tokenize", {"content": "hi"}),
            ("DELETE", "/v1/streams/{id}", None)):
        status, _, reply = server.request(method, path.replace("{id}", "one"), body)
        responses = API["paths"][path][method.lower()]["responses"]
        described = responses.get(str(status), responses["default"])
        assert fits(reply, described["content"]["application/json"]["schema"]), (method, path, status, reply)
    status, _, reply = server.request("GET", "/v1/streams/nobody")
    assert status == 404 and fits(reply, SCHEMAS["Error"])
