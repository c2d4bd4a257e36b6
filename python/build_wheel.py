#!/usr/bin/env python3
"""Makes the wheel and the source archive with the standard library alone.

Run as a program, it writes dist/millrace-VERSION-py3-none-any.whl beside this file, or into the folder that is named.
pip uses the functions below as a build backend (PEP 517). The files are the same in every build.
"""

import base64
import gzip
import hashlib
import io
import re
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Dict, List, Optional

ROOT = Path(__file__).resolve().parent
# The earliest time that a ZIP file can hold, so that equal sources give equal files.
TIME = (1980, 1, 1, 0, 0, 0)


def _field(name: str) -> str:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(rf'^{name} = "([^"]*)"$', text, re.MULTILINE)
    if found is None:
        raise SystemExit(f"pyproject.toml has no {name}")
    return found.group(1)


def _metadata() -> str:
    return (
        "Metadata-Version: 2.1\n"
        f"Name: {_field('name')}\n"
        f"Version: {_field('version')}\n"
        f"Summary: {_field('description')}\n"
        "License: Apache-2.0\n"
        f"Requires-Python: {_field('requires-python')}\n"
        "Classifier: Typing :: Typed\n"
        "Description-Content-Type: text/markdown\n"
        "\n" + (ROOT / "README.md").read_text(encoding="utf-8")
    )


def _sources() -> List[Path]:
    package = ROOT / "millrace"
    return sorted(file for file in package.iterdir() if file.suffix == ".py" or file.name == "py.typed")


def build_wheel(
    wheel_directory: str,
    config_settings: Optional[Dict[str, Any]] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    """Writes the wheel into the folder, and returns the name of its file."""
    name, version = _field("name"), _field("version")
    info = f"{name}-{version}.dist-info"
    files = {f"millrace/{file.name}": file.read_bytes() for file in _sources()}
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: millrace-build\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    record = ""
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = f"{name}-{version}-py3-none-any.whl"
    Path(wheel_directory).mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(Path(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return wheel


def build_sdist(sdist_directory: str, config_settings: Optional[Dict[str, Any]] = None) -> str:
    """Writes the source archive into the folder, and returns the name of its file."""
    base = f"{_field('name')}-{_field('version')}"
    files = {f"millrace/{file.name}": file.read_bytes() for file in _sources()}
    for name in ("pyproject.toml", "README.md", "build_wheel.py"):
        files[name] = (ROOT / name).read_bytes()
    files["PKG-INFO"] = _metadata().encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, content in files.items():
            entry = tarfile.TarInfo(f"{base}/{path}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    Path(sdist_directory).mkdir(parents=True, exist_ok=True)
    Path(sdist_directory, f"{base}.tar.gz").write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    return f"{base}.tar.gz"


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"
    print(folder / build_wheel(str(folder)))
