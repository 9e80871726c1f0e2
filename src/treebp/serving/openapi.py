"""What the server understands, for programs (OpenAPI 3.1) and for people."""

from importlib.metadata import version
from typing import Any

from treebp.drawing.markup import as_text, page_of
from treebp.pipeline.document import Word
from treebp.serving.questions import Limits

_REFUSALS = {
    "400": "The request is malformed, or known and forbidden arcs leave no tree.",
    "401": "The token is missing or wrong.",
    "408": "The request has not come in time.",
    "413": "The request, or a sentence of it, is too large.",
    "415": "The content type is none of those below.",
    "429": "Too many requests at a time.",
    "504": "There was not enough time.",
}


def description(limits: Limits) -> dict[str, Any]:
    """The server's OpenAPI description.

    Example:
        >>> sorted(description(Limits())["paths"])
        ['/health', '/metrics', '/model', '/parse']

    """
    count = {"type": "integer", "minimum": 0}
    output = {"type": "string", "enum": ["json", "conllu"], "default": "json"}
    kbest = {**count, "maximum": limits.kbest, "default": 0, "description": "How many trees of each sentence."}
    marginals = {"type": "boolean", "default": False, "description": "All heads of each word, with probabilities."}
    question = _object(
        {
            "text": {"type": "string", "description": "Plain text or CoNLL-U.", "examples": ["They saw her duck."]},
            "input": {"type": "string", "enum": ["text", "conllu"], "default": "text"},
            "output": output,
            "kbest": kbest,
            "marginals": marginals,
            "known": {
                "type": "array",
                "items": {"type": "object", "additionalProperties": count},
                "description": "For each sentence, heads that are settled, by word.",
                "examples": [[{"4": 2}]],
            },
            "forbidden": {
                "type": "array",
                "items": {"type": "array", "items": {"type": "array", "items": count, "minItems": 2, "maxItems": 2}},
                "description": "For each sentence, arcs [head, word] that must not be.",
                "examples": [[[[2, 4]]]],
            },
        },
        required=["text"],
    )
    types = {"form": "string", "lemma": "string", "coarse_tag": "string", "fine_tag": "string", "feats": "string"}
    types |= {"head": "integer", "label": "string", "start": "integer", "end": "integer"}
    word = _object({name: {"type": types.get(name, "number")} for name in Word._fields})
    word["properties"]["heads"] = {
        "type": "array",
        "description": "Heads and their probabilities, if marginals are asked for.",
        "items": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "number"}]},
    }
    tree = _object({"heads": {"type": "array", "items": count}, "accuracy": {"type": "number"}})
    sentence = _object(
        {
            "words": {"type": "array", "items": {"$ref": "#/components/schemas/Word"}},
            "start": {"type": "integer"},
            "end": {"type": "integer"},
            "alternatives": {"type": "array", "items": tree, "description": "The best trees, if asked for."},
        }
    )
    answer = _object({"sentences": {"type": "array", "items": {"$ref": "#/components/schemas/Sentence"}}})
    text = {"schema": {"type": "string"}}
    parse = {
        "summary": "Parse text or CoNLL-U.",
        "description": "Options are members of a JSON request, or stand in the address of one in another format.",
        "parameters": [
            {"name": name, "in": "query", "schema": schema}
            for name, schema in (("output", output), ("kbest", kbest), ("marginals", marginals))
        ],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/Question"}},
                "text/plain": text,
                "text/x-conllu": text,
            },
        },
        "responses": {
            "200": {
                "description": "The trees, streamed if they are many.",
                "content": {
                    "application/json": {"schema": {"$ref": "#/components/schemas/Answer"}},
                    "text/x-conllu": text,
                },
            },
            **{status: {"description": reason} for status, reason in _REFUSALS.items()},
        },
        "security": [{}, {"token": []}],
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "treebp", "version": version("treebp"), "summary": "Dependency trees with probabilities."},
        "paths": {
            "/parse": {"post": parse},
            "/model": {"get": _simple("What the model is, and what is allowed.", "application/json")},
            "/health": {"get": _simple("Whether the server is up.", "application/json")},
            "/metrics": {"get": _simple("Counts and times, for Prometheus.", "text/plain")},
        },
        "components": {
            "schemas": {"Question": question, "Answer": answer, "Sentence": sentence, "Word": word},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def description_page(openapi: dict[str, Any]) -> str:
    """The description as a page."""
    parts = ['<p>Also <a href="openapi.json">as OpenAPI</a>; and there is <a href="./">a page to try it</a>.</p>']
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            parts.append(
                f"<h2><code>{method.upper()} {as_text(path)}</code></h2><p>{as_text(operation['summary'])}</p>"
            )
            if "description" in operation:
                parts.append(f"<p>{as_text(operation['description'])}</p>")
            statuses = ((status, answer["description"]) for status, answer in operation["responses"].items())
            parts.append(_table("status", "", statuses))
    for name, schema in openapi["components"]["schemas"].items():
        members = ((member, _in_words(value)) for member, value in schema["properties"].items())
        parts.append(f"<h2>{as_text(name)}</h2>{_table('member', '', members)}")
    example = 'curl -H "Content-Type: text/plain" --data "They saw her duck." "http://127.0.0.1:8000/parse?kbest=2"'
    parts.append(f'<h2>Example</h2><pre class="scroll" tabindex="0">{as_text(example)}</pre>')
    return page_of("treebp over HTTP", f"<main><h1>treebp over HTTP</h1>{''.join(parts)}</main>")


def _in_words(schema: dict[str, Any]) -> str:
    kind = schema.get("type") or schema["$ref"].rsplit("/", 1)[1]
    values = " or ".join(map(str, schema["enum"])) if "enum" in schema else kind
    return f"{values}. {schema.get('description', '')}".strip()


def _table(first: str, second: str, rows: Any) -> str:
    cells = "".join(f"<tr><td><code>{as_text(name)}</code></td><td>{as_text(text)}</td></tr>" for name, text in rows)
    return f'<div class="scroll"><table><tr><th>{first}</th><td>{second}</td></tr>{cells}</table></div>'


def _object(properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _simple(summary: str, content: str) -> dict[str, Any]:
    return {"summary": summary, "responses": {"200": {"description": "It.", "content": {content: {}}}}}
