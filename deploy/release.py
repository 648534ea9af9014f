"""Build and check what a release uploads: wheels for each kind of Linux, the pure wheel, and the sdist.

    make release                    # dist/, checked; it uploads nothing

Zig compiles for every platform from one machine. All is built twice, and the bytes must be equal. A wheel is
checked by auditwheel, twine, and an installation from an index of these files alone.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from elftools.elf.elffile import ELFFile

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[1]
DIST: Final = ROOT / "dist"

# TCP_INFO counts segments in the headers of Linux 4.6 and later, which older manylinux policies lack.
MOST_GLIBC: Final = 28
TARGETS: Final = {
    "manylinux_2_28_x86_64": "x86_64-linux-gnu.2.28",
    "manylinux_2_28_aarch64": "aarch64-linux-gnu.2.28",
    "musllinux_1_2_x86_64": "x86_64-linux-musl",
    "musllinux_1_2_aarch64": "aarch64-linux-musl",
}
"""The targets of Zig by the platforms of wheels."""

MULTIARCH: Final = sysconfig.get_config_var("MULTIARCH") or ""


def main() -> int:
    """Build, check, and print what to upload."""
    version = require_ready()
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="loadgen-release-") as work:
        headers, again = Path(work, "include"), Path(work, "again")
        own = Path(sysconfig.get_path("include"))
        shutil.copytree(own, headers)
        # Debian's pyconfig.h includes that of its machine, which a compiler for another one does not find.
        if (of_machine := own.parent / MULTIARCH / own.name / "pyconfig.h").exists():
            shutil.copy(of_machine, headers)
        for folder in (DIST, again):
            build_all(folder, headers)
        require_equal(DIST, again)
    files = sorted(DIST.iterdir())
    _run(sys.executable, "-m", "twine", "check", "--strict", *map(str, files))
    for file in files:
        if any(platform in file.name for platform in TARGETS):
            check_platform(file)
    for platform in (*TARGETS, "any"):
        check_installation(platform, version)
    for file in files:
        print(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(ROOT)}")
    if f"## {version} (unreleased)" in (ROOT / "CHANGELOG.md").read_text():
        sys.exit(f"error: all checks passed; date the section of CHANGELOG.md: `## {version} (YYYY-MM-DD)`")
    print(f"to publish: git tag v{version} && git push origin v{version} && twine upload dist/*")
    return 0


def require_ready() -> str:
    """The version, which is that of changelog and images, without a tag; every change is committed."""
    version: str = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text()
    faults = []
    if not re.search(rf"^## {re.escape(version)}\b", changelog, re.MULTILINE):
        faults.append(f"CHANGELOG.md has no section '## {version}'")
    for file in (*ROOT.glob("deploy/*.yaml"), ROOT / "docs" / "deploy.md"):
        images = set(re.findall(r"/llm-loadgen(?:-ray)?:([\d.]+\d)", file.read_text()))
        if other := images - {version}:
            faults.append(f"{file.relative_to(ROOT)} has images of version {', '.join(other)}")
    if _run("git", "tag", "--list", f"v{version}").strip():
        faults.append(f"the tag v{version} exists: raise the version in pyproject.toml")
    if changed := _run("git", "status", "--porcelain", "--untracked-files=no").strip():
        faults.append(f"changes are not committed:\n{changed}")
    if faults:
        sys.exit("\n".join(f"error: {fault}" for fault in faults))
    return version


def build_all(folder: Path, headers: Path) -> None:
    """Build each wheel and the sdist into a folder."""
    for platform, target in TARGETS.items():
        compiler = f"{sys.executable} -m ziglang cc -target {target} -I{headers}"
        said = _build("wheel", folder, CC=compiler, LOADGEN_PLATFORM=platform)
        if not list(folder.glob(f"*{platform}.whl")):
            sys.exit(f"error: no wheel for {platform}:\n{said}")
    _build("wheel", folder, LOADGEN_PURE="1")
    _build("sdist", folder)


def require_equal(first: Path, second: Path) -> None:
    """Require that two builds have the same bytes."""
    for file in sorted(first.iterdir()):
        if file.read_bytes() != (second / file.name).read_bytes():
            sys.exit(f"error: {file.name}: two builds differ; compare with diffoscope")


def check_platform(wheel: Path) -> None:
    """Require that the compiled code needs nothing beyond the platform in the name of a wheel."""
    if "musllinux" in wheel.name:
        # musl's loader takes the name for itself; auditwheel cannot follow it where glibc is the system's.
        needed = set(_needed(wheel))
        if needed != {"libc.so"}:
            sys.exit(f"error: {wheel.name}: needs {', '.join(sorted(needed))}; only libc.so is allowed")
        return
    said = _run(sys.executable, "-m", "auditwheel", "show", str(wheel))
    machine = wheel.stem.partition("manylinux_2_28_")[2]
    policy = re.search(rf'"manylinux_2_(\d+)_{machine}"', said)
    if policy is None or int(policy[1]) > MOST_GLIBC:
        sys.exit(f"error: {wheel.name}: needs a newer glibc than 2.{MOST_GLIBC}:\n{said}")


def _needed(wheel: Path) -> Iterator[str]:
    """The libraries that the compiled code of a wheel names."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(".so"):
                sections = ELFFile(io.BytesIO(archive.read(name))).iter_sections(type="SHT_DYNAMIC")
                for section in sections:
                    yield from (tag.needed for tag in section.iter_tags("DT_NEEDED"))


def check_installation(platform: str, version: str) -> None:
    """Install from an index of these files alone, without building, as a machine of a platform would."""
    tags = ["--platform", platform, "--implementation", "cp", "--python-version", "3.13"]
    tags += ["--abi", "none"] if platform == "any" else ["--abi", "abi3"]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    with tempfile.TemporaryDirectory(prefix="loadgen-installed-") as folder:
        source = ["--no-index", "--find-links", str(DIST), "--only-binary", ":all:", "--target", folder]
        _run(*pip, *source, *tags, f"llm-loadgen=={version}")
        compiled = {path.name for path in Path(folder).rglob("*.so")}
    expected = set() if platform == "any" else {"_wire.abi3.so", "_requests.abi3.so"}
    if compiled != expected:
        sys.exit(f"error: {platform}: installed {sorted(compiled)}, expected {sorted(expected)}")


def _build(target: str, folder: Path, **environment: str) -> str:
    build = ("-m", "hatchling", "build", "--target", target, "--directory", str(folder))
    return _run(sys.executable, *build, **environment)


def _run(*command: str, **environment: str) -> str:
    """Run a command in the repository; return the output, or exit with it where the command fails."""
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"error: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


if __name__ == "__main__":
    sys.exit(main())
