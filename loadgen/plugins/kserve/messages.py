"""The messages of KServe's gRPC service, and their tensors as in KServe's JSON.

The field numbers are those of KServe's `open_inference_grpc.proto` and Triton's `grpc_service.proto`. A map
is declared as the list of entries that it is on the wire. MLServer streams `ModelInferResponse`, without
Triton's message around: `ModelStreamInferResponse` has the fields of both.
"""

from __future__ import annotations

from functools import cache
from itertools import chain
from struct import unpack_from
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.driver.errors import CannotAskError, MalformedResponseError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SERVICE: Final = "/inference.GRPCInferenceService/"
INFER: Final = "ModelInfer"
STREAM: Final = "ModelStreamInfer"

_FIELDS: Final[Mapping[str, str]] = {
    "InferParameter": "bool_param=1:bool int64_param=2:int64 string_param=3:string double_param=4:double",
    "Parameter": "key=1:string value=2:InferParameter",
    "InferTensorContents": "bool_contents=1:bool* int_contents=2:int32* int64_contents=3:int64* "
    "uint_contents=4:uint32* uint64_contents=5:uint64* fp32_contents=6:float* fp64_contents=7:double* "
    "bytes_contents=8:bytes*",
    "Tensor": "name=1:string datatype=2:string shape=3:int64* parameters=4:Parameter* "
    "contents=5:InferTensorContents",
    "RequestedOutput": "name=1:string parameters=2:Parameter*",
    "ModelInferRequest": "model_name=1:string model_version=2:string id=3:string parameters=4:Parameter* "
    "inputs=5:Tensor* outputs=6:RequestedOutput* raw_input_contents=7:bytes*",
    "ModelInferResponse": "model_name=1:string model_version=2:string id=3:string parameters=4:Parameter* "
    "outputs=5:Tensor* raw_output_contents=6:bytes*",
    "ModelStreamInferResponse": "error_message=1:string infer_response=2:bytes outputs=5:Tensor* "
    "raw_output_contents=6:bytes*",
    "ServerReadyResponse": "ready=1:bool",
    "ModelMetadataRequest": "name=1:string version=2:string",
    "TensorMetadata": "name=1:string datatype=2:string shape=3:int64*",
    "ModelMetadataResponse": "name=1:string versions=2:string* platform=3:string inputs=4:TensorMetadata* "
    "outputs=5:TensorMetadata*",
}
"""The messages: fields with numbers and types, of which `*` marks the repeated ones."""

_CONTENTS: Final[Mapping[str, tuple[str, str]]] = {
    "BOOL": ("bool_contents", "?"),
    "INT8": ("int_contents", "b"),
    "INT16": ("int_contents", "h"),
    "INT32": ("int_contents", "i"),
    "INT64": ("int64_contents", "q"),
    "UINT8": ("uint_contents", "B"),
    "UINT16": ("uint_contents", "H"),
    "UINT32": ("uint_contents", "I"),
    "UINT64": ("uint64_contents", "Q"),
    "FP16": ("", "e"),
    "FP32": ("fp32_contents", "f"),
    "FP64": ("fp64_contents", "d"),
    "BYTES": ("bytes_contents", ""),
}
"""The field of a datatype's typed contents, and the format of raw contents (`struct`)."""

_SIZES: Final = {
    "?": 1,
    "b": 1,
    "B": 1,
    "h": 2,
    "H": 2,
    "e": 2,
    "i": 4,
    "I": 4,
    "f": 4,
    "q": 8,
    "Q": 8,
    "d": 8,
}
_LENGTH_BYTES: Final = 4
_PARAMETERS: Final = {bool: "bool_param", int: "int64_param", str: "string_param", float: "double_param"}


@cache
def message(name: str) -> Any:
    """The class of a message by name."""
    return _classes()[name]


@cache
def _classes() -> Mapping[str, Any]:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="kserve.proto", package="kserve", syntax="proto3")
    kinds = descriptor_pb2.FieldDescriptorProto
    for name, fields in _FIELDS.items():
        described = file.message_type.add(name=name)
        for field in fields.split():
            place, _, kind = field.partition(":")
            field_name, _, number = place.partition("=")
            added = described.field.add(name=field_name, number=int(number))
            added.label = kinds.LABEL_REPEATED if kind.endswith("*") else kinds.LABEL_OPTIONAL
            if (kind := kind.rstrip("*")) in _FIELDS:
                added.type, added.type_name = kinds.TYPE_MESSAGE, f".kserve.{kind}"
            else:
                added.type = kinds.Type.Value(f"TYPE_{kind.upper()}")
            if name == "InferParameter":
                added.oneof_index = 0  # false and 0 are sent, too
        if name == "InferParameter":
            described.oneof_decl.add(name="choice")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"kserve.{name}"))
        for name in _FIELDS
    }


def infer_request(model: str, body: Mapping[str, Any]) -> bytes:
    """Encode a request that is given as KServe's JSON.

    Raises:
        CannotAskError: A tensor is not one of KServe's JSON, or has a datatype without typed contents.
    """
    request = message("ModelInferRequest")(
        model_name=model, model_version=str(body.get("model_version", "")), id=str(body.get("id", ""))
    )
    try:
        _add_parameters(request, body)
        for tensor in body.get("inputs", ()):
            _add_tensor(request.inputs, tensor)
        for output in body.get("outputs", ()):
            _add_parameters(request.outputs.add(name=output["name"]), output)
    except CannotAskError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CannotAskError(
            f"the tensors of the request are not those of KServe's JSON ({type(error).__name__}: {error}); "
            "give name, shape, datatype and data of each"
        ) from error
    encoded: bytes = request.SerializeToString()
    return encoded


def _add_tensor(tensors: Any, tensor: Mapping[str, Any]) -> None:
    datatype = str(tensor["datatype"])
    field, _ = _CONTENTS.get(datatype, ("", ""))
    if not field:
        names = ", ".join(name for name, (contents, _) in _CONTENTS.items() if contents)
        raise CannotAskError(f"datatype {datatype} of {tensor['name']}: gRPC sends {names}")
    added = tensors.add(name=tensor["name"], datatype=datatype, shape=tensor["shape"])
    _add_parameters(added, tensor)
    flat = _flat(tensor["data"])
    values = (value.encode() for value in flat) if datatype == "BYTES" else flat
    getattr(added.contents, field).extend(values)


def _add_parameters(described: Any, members: Mapping[str, Any]) -> None:
    for key, value in members.get("parameters", {}).items():
        setattr(described.parameters.add(key=key).value, _PARAMETERS[type(value)], value)


def _flat(data: Any) -> Iterator[Any]:
    return chain.from_iterable(map(_flat, data)) if isinstance(data, list) else iter((data,))


def tensors_of(response: Any) -> dict[str, Any]:
    """The outputs of a `ModelInferResponse`, as KServe's JSON.

    Raises:
        MalformedResponseError: Raw contents do not fit the outputs.
    """
    raw: Iterable[bytes | None] = response.raw_output_contents or (None,) * len(response.outputs)
    try:
        outputs = [_output(tensor, data) for tensor, data in zip(response.outputs, raw, strict=True)]
    except ValueError as error:
        raise MalformedResponseError(f"raw contents do not fit the outputs: {error}") from error
    return {"outputs": outputs}


def _output(tensor: Any, raw: bytes | None) -> dict[str, Any]:
    field, form = _CONTENTS.get(tensor.datatype, ("", ""))
    if raw is None:
        values: Iterable[Any] = getattr(tensor.contents, field) if field else ()
    elif form:
        values = unpack_from(f"<{len(raw) // _SIZES[form]}{form}", raw)
    else:
        values = _raw_texts(raw) if tensor.datatype == "BYTES" else ()
    data = (
        [value.decode(errors="replace") for value in values] if tensor.datatype == "BYTES" else list(values)
    )
    return {"name": tensor.name, "datatype": tensor.datatype, "shape": list(tensor.shape), "data": data}


def _raw_texts(raw: bytes) -> Iterator[bytes]:
    """The elements of a raw tensor of bytes, each after its length."""
    place = 0
    while place < len(raw):
        begin = place + _LENGTH_BYTES
        place = begin + int.from_bytes(raw[place:begin], "little")
        if place > len(raw):
            raise ValueError(f"an element ends at byte {place} of {len(raw)}")
        yield raw[begin:place]


def json_of(method: str, data: bytes) -> bytes:
    """Return a response as the JSON of KServe over HTTP; of `ModelStreamInfer` as a server-sent event.

    Raises:
        MalformedResponseError: The bytes are another message.
    """
    from google.protobuf.message import DecodeError

    try:
        response = message(f"{method}Response").FromString(data)
        if method == STREAM:
            return b"data: %b\n\n" % orjson.dumps(_frame(response))
    except DecodeError as error:
        raise MalformedResponseError(f"not a response of {method}: {error}") from error
    if method == INFER:
        return orjson.dumps(tensors_of(response))
    from google.protobuf.json_format import MessageToDict

    return orjson.dumps(MessageToDict(response, preserving_proto_field_name=True))


def _frame(part: Any) -> dict[str, Any]:
    """A message of a stream: MLServer's outputs, or Triton's error or response."""
    if part.outputs:
        return tensors_of(part)
    if part.error_message:
        return {"error": part.error_message}
    return tensors_of(message("ModelInferResponse").FromString(part.infer_response))
