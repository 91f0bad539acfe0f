"""The package as an editable install finds it: this stands in for `dedup_filter` of the checkout.

The folder above is what such an install puts on Python's path. With the top of the checkout there,
its `crawler` would stand in for a project of that name elsewhere. With an import hook in place of a
path, a checkout that is itself named `dedup_filter` would hide the package from all that start in
the folder above it: Python prefers any folder of that name to hooks, but a package to any folder.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_file = Path(__file__).resolve().parents[3] / "dedup_filter" / "__init__.py"
_spec = spec_from_file_location(__name__, _file)
assert _spec is not None
assert _spec.loader is not None
sys.modules[__name__] = module_from_spec(_spec)  # which `import` then returns in place of this
_spec.loader.exec_module(sys.modules[__name__])
