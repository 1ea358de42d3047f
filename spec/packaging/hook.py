"""Give the wheel, and only the wheel, a regular `ropespec` root package."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RootPackageHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling's own docs subclass it bare
    """Add `ropespec/__init__.py` to standard wheels.

    In a checkout `ropespec` is a namespace of four portions.
    Installed, a namespace root would let `pytest --pyargs` put `site-packages/ropespec` itself on
    `sys.path`, where our folder names shadow other people's packages.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Include the root file when `version` is a standard wheel, not an editable one."""
        if version == "standard":
            build_data["force_include"]["spec/packaging/root_init.py"] = "ropespec/__init__.py"
