"""Bodies of `multipart/form-data` (RFC 7578)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

BOUNDARY: Final = "loadgen-3f1c2a9e5b7d4086"
"""The line between parts: random once, so that no recording has it."""

CONTENT_TYPE: Final = f"multipart/form-data; boundary={BOUNDARY}"


def multipart(fields: Mapping[str, str], name: str, content: bytes, mime: str) -> bytes:
    """Encode fields and the file `file` as the body of a form.

    Args:
        fields: Texts by name.
        name: The name of the file.
        content: The bytes of the file.
        mime: The media type of the file.
    """
    texts = "".join(
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{text}\r\n'
        for field, text in fields.items()
    )
    head = (
        f'{texts}--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        f"Content-Type: {mime}\r\n\r\n"
    )
    return b"%b%b\r\n--%b--\r\n" % (head.encode(), content, BOUNDARY.encode())


def form(body: bytes) -> tuple[dict[str, str], bytes]:
    """Read the fields and the file of a body that `multipart` wrote."""
    fields: dict[str, str] = {}
    file = b""
    for part in body.split(b"--" + BOUNDARY.encode())[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        if b"filename=" in head:
            file = content[:-2]
        else:
            fields[head.partition(b'name="')[2].partition(b'"')[0].decode()] = content[:-2].decode()
    return fields, file
