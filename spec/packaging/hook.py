"""What the wheel, and only the wheel, gets beside the four portions of the package."""

import importlib.util
import json
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RootPackageHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling's own docs subclass it bare
    """Add `ropespec/__init__.py`, and the list of what the tests name, to standard wheels.

    In a checkout `ropespec` is a namespace of four portions.
    Installed, a namespace root would let `pytest --pyargs` put `site-packages/ropespec` itself on
    `sys.path`, where our folder names shadow other people's packages.
    Tests are not installed, and `ropespec spec --map` names them all the same.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Include both files when `version` is a standard wheel, not an editable one."""
        if version != "standard":
            return
        root = Path(self.root)
        named = _load(root / "conformance/ropespec/conformance/named.py")
        listed = Path(tempfile.mkdtemp()) / named.LIST
        listed.write_text(json.dumps(named.scan_tests(root)), encoding="utf-8")
        build_data["force_include"][str(listed)] = f"ropespec/conformance/{named.LIST}"
        build_data["force_include"]["spec/packaging/root_init.py"] = "ropespec/__init__.py"


def _load(path: Path) -> ModuleType:
    """Load one file of a package that is not installed yet."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise RuntimeError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
