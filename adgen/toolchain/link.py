"""How extension modules are linked and named on this platform."""

from __future__ import annotations

import sys
import sysconfig

SHARED = ("-shared", *(("-undefined", "dynamic_lookup") if sys.platform == "darwin" else ()))
SUFFIX: str = sysconfig.get_config_var("EXT_SUFFIX") or ".so"
